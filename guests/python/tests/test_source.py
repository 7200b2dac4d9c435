import unittest

from gristmill_guest import source

FENCE_NOTE = "the code was extracted from its Markdown fence; line numbers count from inside it"
INDENT_NOTE = "the code's common indentation was removed"


def read(text):
    program = source.read(text, "program.py")
    return program.text, program.notes


class TextIsRepaired(unittest.TestCase):
    def check(self, text, expected, *notes):
        self.assertEqual(read(text), (expected, list(notes)))

    def test_plain_code_is_left_alone(self):
        self.check("x = 1\n", "x = 1\n")

    def test_a_fence_is_taken_off(self):
        for text in (
            "```python\nx = 1\n```",
            "```py\nx = 1\n```\n",
            "~~~\nx = 1\n~~~",
            "````\nx = 1\n````",
            "Here is the code:\n\n```python\nx = 1\n```\nIt sets x.",
            "```python\r\nx = 1\r\n```",
            "```python\nx = 1",
        ):
            with self.subTest(text=text):
                self.check(text, "x = 1", FENCE_NOTE)

    def test_a_fence_inside_a_string_stays(self):
        text = 's = """\n```python\nx = 1\n```\n"""\n'
        self.check(text, text)

    def test_a_fence_in_broken_code_is_not_mistaken_for_the_program(self):
        text = 's = """\n```python\nx =\n```\n"""\ny = (\n'
        self.check(text, text)

    def test_a_stray_closing_fence_ends_the_program(self):
        for text in ('print("ran")\n```', 'print("ran")\n```\n', 'print("ran")\n```\nIt prints a word.\n'):
            with self.subTest(text=text):
                self.check(text, 'print("ran")', FENCE_NOTE)

    def test_an_empty_fence_is_no_program(self):
        for text in ("```\n```", "```python\n\n```", "```"):
            with self.subTest(text=text):
                self.check(text, text)

    def test_code_on_both_sides_of_a_fence_stays(self):
        for text in (
            'print("a")\n```python\nprint("b")\n```\n',
            '```python\nprint("b")\n```\nprint("a")\n',
            'print("a")\n```\nprint("b")\n',
        ):
            with self.subTest(text=text):
                self.check(text, text)

    def test_one_word_of_prose_is_not_code(self):
        self.check("Code\n```python\nx = 1\n```\nDone", "x = 1", FENCE_NOTE)

    def test_a_fenced_program_may_hold_fences_in_its_strings(self):
        inner = 'def f():\n    """\n    ```\n    x\n    ```\n    """\nf()'
        self.check(f"```python\n{inner}\n```", inner, FENCE_NOTE)

    def test_a_fenced_example_in_a_broken_program_does_not_win(self):
        text = 'def f():\n    """\n    ```python\n    x = 1\n    ```\n    """\ny = = 2\n'
        self.check(text, text)
        text = 's = \'\'\'\n```python\nx = 1\n```\n\'\'\'\ny = (\n'
        self.check(text, text)

    def test_uniform_indentation_is_removed(self):
        self.check("    x = 1\n    if x:\n        y = 2\n", "x = 1\nif x:\n    y = 2\n", INDENT_NOTE)

    def test_bom_and_line_endings_are_normalised(self):
        self.check("\ufeffx = 1\r\ny = 2\rz = 3", "x = 1\ny = 2\nz = 3")

    def test_unreadable_characters_are_named_with_their_line(self):
        for text in ("x = 1\ny = '\0'\n", "x = 1\ny = '\ud800'\n"):
            with self.assertRaises(SyntaxError) as caught:
                read(text)
            self.assertEqual(caught.exception.lineno, 2)


class TheLastExpressionIsKept(unittest.TestCase):
    def value(self, text):
        names = {}
        compiled = source.compile_program(text, "program.py")
        for code in compiled.codes:
            exec(code, names)
        if compiled.last is not None:
            return eval(compiled.last, names)
        return names.get(source.LAST_EXPRESSION)

    def test_of_every_shape_of_program(self):
        for text, expected in (
            ("1 + 1", 2),
            ("x = 1\nx + 1", 2),
            ("x = 1; x + 1", 2),
            ("x = 1\n(x +\n1)\n# the end\n\n", 2),
            ('x = 1\nstr("""\na\n""")', "\na\n"),
            ("x = [\n1,\n]\nx", [1]),
            ("x = 1 + \\\n2\n", None),
            ("def f():\n    return 3\nf()", 3),
            ("x = 1", None),
            ("if True:\n    5\nelse:\n    6", None),
            ("from __future__ import annotations\n1", 1),
            ("# coding: latin-1\n'é'", "é"),
            ("", None),
        ):
            with self.subTest(text=text):
                self.assertEqual(self.value(text), expected)

    def test_line_numbers_survive_the_split(self):
        try:
            self.value("x = 1\n\ny = 2\n1 / 0")
        except ZeroDivisionError as error:
            self.assertEqual(error.__traceback__.tb_next.tb_next.tb_lineno, 4)
        else:
            self.fail("no error")

    def test_decorators_and_docstrings_stay_with_their_statement(self):
        names = {}
        for code in source.compile_program('"""doc"""\ndef d(f):\n    return 7\n@d\ndef g():\n    pass\n', "p").codes:
            exec(code, names)
        self.assertEqual((names["__doc__"], names["g"]), ("doc", 7))

    def test_a_syntax_error_keeps_its_line(self):
        with self.assertRaises(SyntaxError) as caught:
            source.compile_program("x = 1\ny = = 2\nz = 3\n", "program.py")
        self.assertEqual(caught.exception.lineno, 2)


if __name__ == "__main__":
    unittest.main()
