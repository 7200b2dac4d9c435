"""What Presidio finds in the labeled texts of a folder, as `gristmill bench privacy --beside` reads it.

    presidio_findings.py DIR OUT SCORE    run by compare.py, in an environment with presidio-analyzer

Uses spaCy's small English model where it is installed. Without it, words are told apart by spaCy's
tokenizer, so that Presidio's context words still count, and names of people aren't looked for.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import spacy
import tldextract
from labels import KIND_OF
from presidio_analyzer import AnalyzerEngine
from presidio_analyzer.nlp_engine import SpacyNlpEngine
from spacy.language import Language

MODEL = "en_core_web_sm"


@Language.component("words_as_lemmas")
def words_as_lemmas(doc):
    for token in doc:
        token.lemma_ = token.lower_
    return doc


class Tokens(SpacyNlpEngine):
    """Words alone."""

    def load(self):
        words = spacy.blank("en")
        words.add_pipe("words_as_lemmas")
        self.nlp = {"en": words}


def main(folder, out, score):
    has_model = spacy.util.is_package(MODEL)
    models = [{"lang_code": "en", "model_name": MODEL}]
    nlp = SpacyNlpEngine(models=models) if has_model else Tokens(models=models)
    nlp.load()
    engine = AnalyzerEngine(nlp_engine=nlp, default_score_threshold=float(score))
    texts = [
        json.loads(line)["text"]
        for file in sorted(Path(folder).glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").split("\n")
        if line
    ]
    # Its list of top-level domains is used as installed, so that nothing is fetched while time is taken.
    tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=())
    engine.analyze("Call 212-555-0123 or write to ann@example.com.", language="en")
    # CPU time, as of gristmill: others may share the machine.
    began = time.process_time()
    found = [engine.analyze(text, language="en") for text in texts]
    seconds = time.process_time() - began
    findings = [
        [
            {"start": one.start, "end": one.end, "kind": KIND_OF[one.entity_type]}
            for one in each
            if one.entity_type in KIND_OF and one.end > one.start
        ]
        for each in found
    ]
    name = f"presidio-analyzer {version('presidio-analyzer')} ({MODEL if has_model else 'no model'}, score {score})"
    Path(out).write_text(json.dumps({"name": name, "seconds": seconds, "findings": findings}), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
