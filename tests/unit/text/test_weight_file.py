from credenda.text.weight_file import parse_weight_file, render_weight_file


def test_a_weight_file_reads_back_as_it_was_written() -> None:
    rows = [("*", "-3"), ("# b", "4")]
    text = render_weight_file(
        "How much: it weighs.\nMore.", [("least", "0.5"), ("data", "a"), ("data", "b")], "fw", rows
    )
    read = parse_weight_file(text)
    assert read.notes == {"least": ["0.5"], "data": ["a", "b"]}
    assert [tuple(row) for row in read.rows] == rows
