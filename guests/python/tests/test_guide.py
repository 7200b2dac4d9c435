"""help(): what it prints, and that what it names is there."""

import builtins
import re
import unittest

from gristmill_guest import gateway_names, guide, namespace
from tests.fake_host import run


class Guide(unittest.TestCase):
    def test_every_topic_names_only_what_a_program_has(self):
        known = {**vars(builtins), **gateway_names.NAMES, **namespace.HELPERS}
        methods = {"same", "domain", "get", "gather"}
        examples = {"get_record", "total"}
        for topic, text in guide.TOPICS.items():
            named = set(re.findall(r"([A-Za-z_]\w*)\(", text)) - methods - examples
            self.assertEqual({name for name in named if not callable(known.get(name))}, set(), topic)
            for topic in re.findall(r'help\("(\w+)"\)', text):
                self.assertIn(topic, guide.TOPICS)

    def test_other_names_lead_to_topics(self):
        self.assertEqual({name for name in guide.OTHER_NAMES.values() if name not in guide.TOPICS}, set())
        self.assertEqual(guide._about("Stats"), guide.TOPICS["statistics"])
        self.assertEqual(guide._about("skills()"), guide.TOPICS["skills"])

    def test_an_unknown_topic_is_told_what_there_is(self):
        told = guide._about("skils")
        self.assertIn('did you mean help("skills")?', told)
        self.assertIn("Topics: tools, files, results, skills,", told)

    def test_a_program_gets_it_as_output_and_not_as_a_result(self):
        code = """
import contextlib, io
said = io.StringIO()
with contextlib.redirect_stdout(said):
    told = help("files")
[told, said.getvalue()]
"""
        self.assertEqual(run(code)["result"], [None, guide.TOPICS["files"] + "\n"])

    def test_a_name_of_the_callers_own_may_be_help(self):
        self.assertEqual(run("help", context={"help": 5})["result"], 5)
