"""Writes the texts, pieces and vectors that another implementation of the model is tested against.

    python training/golden.py --model crates/toolfold-index/data/model.bin --out crates/toolfold-index/data/golden.json
"""

import argparse
import json

from data import Document
from model import load

TEXTS = [
    "list pods in a namespace", "Send an e-mail to Bob, please!", "getHTTPServerStatus", "create_issue", "S3 bucket policy",
    "What's the weather in Zürich tomorrow?", "notion ページ検索", "", "   ", "kubernetes", "XMLHttpRequest2",
    "convert 12.5 USD to EUR", "naïve café", "слово", "antidisestablishmentarianism", "a", "SELECT * FROM users;",
    "search google drive files", "🙂 emoji", "roll back the last deployment and tell the team",
]
DOCUMENT = Document("github", "create_pull_request", "Open a pull request.", "The head branch must exist.", "owner repo title head base",
                    "Account owner Repository name")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    model = load(options.model)
    eight = lambda vector: [round(float(x), 5) for x in vector[:8]]
    golden = {
        "queries": [{"text": t, "pieces": model.pieces.ids(t), "vector": eight(model.query(t))} for t in TEXTS],
        "document": {**DOCUMENT._asdict(), "vector": eight(model.document(DOCUMENT))},
    }
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump(golden, file, ensure_ascii=False, indent=1)


if __name__ == "__main__":
    main()
