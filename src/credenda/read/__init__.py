"""From asked to answered: plan, retrieve, fuse, score, gate, pack."""
