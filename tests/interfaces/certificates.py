"""Certificates for tests of TLS."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def write_certificate(folder: Path, name: str = "127.0.0.1") -> tuple[Path, Path]:
    """Write a certificate for a name or an address that it signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    named = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    known = x509.IPAddress(ip_address(name)) if name[0].isdigit() else x509.DNSName(name)
    certificate = (
        x509.CertificateBuilder(
            named, named, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1)
        )
        .add_extension(x509.SubjectAlternativeName([known]), critical=False)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    private = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    paths = folder / "cert.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(encoding))
    paths[1].write_bytes(key.private_bytes(encoding, *private))
    return paths
