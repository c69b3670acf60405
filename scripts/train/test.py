#!/usr/bin/env python3
"""Tests of what `train.py` is made of, on a small network; they take seconds."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import tempfile
import unittest
from array import array
from pathlib import Path
from random import Random

import torch

from export.gguf import Q4_0, dequantized, write_gguf
from prefix.export import hyperparameters, readout, round_as_exported, tensors_of
from prefix.loss import log_probabilities, losses
from prefix.network import Network, Shape
from prefix.relations import CONTRADICTS, FOLLOWS, OPEN, Wordings
from prefix.rows import CHOICE, NOUL, SCORE, Asked, Batch, Group, Row, Special
from prefix.start import exported
from prefix.texts import Texts
from prefix.twins import Twins

SPECIAL = Special(1, 2, 3)
_WORDINGS = (
    "pattern\trelation\tyes when it holds\n"
    "^Does the text say that (.+)\\?$\tfollows\tyes\n"
    "^Does the text fail to say that (.+)\\?$\tfollows\tno\n"
    "^Does the text leave open whether (.+)\\?$\topen\tyes\n"
)


def small() -> Network:
    torch.manual_seed(5)
    network = Network(
        Shape(words=64, layers=2, width=64, heads=2, inner=128, positions=96, hidden=64)
    )
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    # A table as it is in a file.
    words = 0.5 * torch.randn(network.words.shape)
    network.words.copy_(torch.from_numpy(dequantized(words.numpy(), Q4_0)))
    return network.eval()


def tokens(*numbers: int) -> array:
    return array("H", numbers)


def choice(*options: array) -> Asked:
    return Asked(CHOICE, 0, tokens(20, 21), list(options))


@torch.no_grad()
def logits(network: Network, *groups: Group) -> torch.Tensor:
    return network(Batch([Row(group, SPECIAL) for group in groups]).to("cpu"), SPECIAL.marker)[0]


class Parts(unittest.TestCase):
    state, others = tokens(10, 11, 12), (tokens(30, 31), tokens(32), tokens(33, 34, 35))

    def test_an_options_logit_does_not_depend_on_the_others(self) -> None:
        network = small()
        alone = logits(network, Group(0, self.state, [choice(self.others[1])]))
        among = logits(network, Group(0, self.state, [choice(*self.others)]))
        self.assertAlmostEqual(float(alone[0]), float(among[1]), places=5)

    def test_a_question_does_not_depend_on_the_others_of_its_row(self) -> None:
        network, noul = small(), Asked(NOUL, 1, tokens(40, 41, 42))
        alone = logits(network, Group(0, self.state, [noul]))
        among = logits(network, Group(0, self.state, [choice(*self.others), noul]))
        self.assertAlmostEqual(float(alone[0]), float(among[3]), places=5)

    def test_a_longer_row_beside_it_changes_nothing(self) -> None:
        network, group = small(), Group(0, self.state, [choice(*self.others)])
        long = Group(0, tokens(*range(10, 60)), [Asked(NOUL, 1, tokens(40))])
        self.assertTrue(
            torch.allclose(logits(network, group), logits(network, group, long)[:3], atol=1e-5)
        )

    def test_an_answer_depends_on_the_state_and_on_the_question(self) -> None:
        network = small()
        first = logits(network, Group(0, self.state, [choice(*self.others)]))
        state = logits(network, Group(0, tokens(13, 14), [choice(*self.others)]))
        asked = logits(
            network, Group(0, self.state, [Asked(CHOICE, 0, tokens(22), [*self.others])])
        )
        self.assertGreater(float((first - state).abs().min()), 1e-4)
        self.assertGreater(float((first - asked).abs().min()), 1e-4)

    def test_levels_see_each_other(self) -> None:
        network = small()
        first = logits(network, Group(0, self.state, [Asked(SCORE, 0, tokens(20), [*self.others])]))
        fewer = logits(
            network, Group(0, self.state, [Asked(SCORE, 0, tokens(20), [*self.others[:2]])])
        )
        self.assertGreater(float((first[:2] - fewer).abs().min()), 1e-4)

    def test_positions_go_on_from_part_to_part_and_options_begin_at_one(self) -> None:
        row = Row(Group(0, self.state, [choice(*self.others[:2])]), SPECIAL)
        self.assertEqual(row.positions, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 9, 10, 11])
        self.assertEqual(row.tokens[9], SPECIAL.marker)


class Losses(unittest.TestCase):
    def test_twins_that_agree_cost_nothing(self) -> None:
        noul, twin = Asked(NOUL, 1, tokens(4)), Asked(NOUL, 0, tokens(5), twin=0, link_to=(1, 0))
        batch = Batch([Row(Group(0, tokens(6), [noul, twin]), SPECIAL)]).to("cpu")
        agreed, _ = losses(torch.tensor([1.5, -1.5]), torch.zeros(2, 3), batch)
        against, _ = losses(torch.tensor([1.5, 1.5]), torch.zeros(2, 3), batch)
        self.assertLess(float(agreed["coherence"]), 1e-6)
        self.assertGreater(float(against["coherence"]), 1)

    def test_a_merged_option_has_the_sum(self) -> None:
        three = choice(tokens(4), tokens(5), tokens(6))
        merged = Asked(CHOICE, 0, tokens(7), [tokens(8), tokens(9)], twin=0, link_to=(0, 1, 0))
        batch = Batch([Row(Group(0, tokens(6), [three, merged]), SPECIAL)]).to("cpu")
        p = torch.tensor([0.2, 0.5, 0.3, 0.5, 0.5]).log()
        self.assertLess(float(losses(p, torch.zeros(2, 3), batch)[0]["coherence"]), 1e-6)

    def test_a_yes_stands_against_zero(self) -> None:
        batch = Batch([Row(Group(0, tokens(6), [Asked(NOUL, 1, tokens(4))]), SPECIAL)]).to("cpu")
        known = log_probabilities(torch.tensor([2.0]), batch)
        self.assertAlmostEqual(
            float(known[0, 1].exp()), float(torch.sigmoid(torch.tensor(2.0))), places=6
        )


class Words:
    """A word is a number."""

    numbers = {"[CLS]": 1, "[SEP]": 2, "[MASK]": 3}

    def encode(self, text: str) -> list[int]:
        return [4 + len(word) % 50 for word in text.split()]


class Asking(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "wordings.tsv"
        path.write_text(_WORDINGS)
        self.wordings = Wordings(path)

    def test_what_is_asked_says_which_relations_are_possible(self) -> None:
        def possible(source: str, text: str, answer: bool) -> int:
            question = {"type": "noul", "instructions": text}
            return self.wordings.relations(source, question, answer)

        self.assertEqual(possible("snli", "Does the text say that it rains?", True), FOLLOWS)
        self.assertEqual(
            possible("snli", "Does the text say that it rains?", False), OPEN | CONTRADICTS
        )
        self.assertEqual(
            possible("snli", "Does the text fail to say that it rains?", False), FOLLOWS
        )
        self.assertEqual(possible("snli", "Does the text leave open whether it rains?", True), OPEN)
        self.assertEqual(possible("boolq", "does it rain", False), CONTRADICTS)
        self.assertEqual(possible("sgd", "does it rain", False), 0)

    def test_the_answers_of_two_that_are_linked_agree(self) -> None:
        twins, random = Twins(Texts(Words()), self.wordings), Random(1)
        asked = (
            ({"type": "noul", "instructions": "Does the text say that it rains?"}, True),
            (
                {
                    "type": "noul",
                    "instructions": "Is it wet?",
                    "criteria": {"true": "wet", "false": "dry"},
                },
                False,
            ),
            (
                {
                    "type": "choice",
                    "instructions": "What?",
                    "criteria": {"a": None, "b": "x y", "c": None},
                },
                "b",
            ),
            (
                {"type": "choice", "instructions": "Which?", "criteria": {"p": "p q", "q": "r s"}},
                "q",
            ),
            ({"type": "score", "instructions": "How?", "criteria": ["l", "m", "n", "o"]}, 2),
        )
        texts, finer = Texts(Words()), 0
        for question, answer in asked * 100:
            two = [texts.of_body(question, answer)]
            twins.beside(two, random, "snli", "It rains.", question, answer)
            linked = next(one for one in two if one.twin >= 0)
            other = two[linked.twin]
            self.assertIsNot(linked, other)
            self.assertEqual(len(linked.link_to), len(other.options) or 2, question)
            self.assertEqual(linked.link_to[other.answer], linked.answer, question)
            finer += linked is two[0]
        self.assertGreater(finer, 10)

    def test_of_two_questions_both_or_one_of_them_are_asked(self) -> None:
        twins, random = Twins(Texts(Words()), self.wordings), Random(1)
        for answers in ([True, True], [False, False]):
            asked = [twins.compound(random, "a", "b", answers) for _ in range(200)]
            share = sum(one.answer for one in asked) / len(asked)
            self.assertTrue(share > 0.6 if answers[0] else share < 0.4, share)


class Files(unittest.TestCase):
    def test_an_exported_model_is_the_one_that_was_trained(self) -> None:
        network = small()
        group = Group(0, Parts.state, [choice(*Parts.others)])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "small.gguf"
            facts = {**hyperparameters(network), **readout(network, None)}
            write_gguf(path, facts, tensors_of(network, SPECIAL.marker))
            back = exported(path)
        round_as_exported(network, SPECIAL.marker)
        self.assertTrue(torch.allclose(logits(network, group), logits(back, group), atol=1e-4))

    def test_a_run_goes_on_where_it_ended_and_learns(self) -> None:
        random = Random(2)

        def group() -> tuple[str, Group]:
            answer = random.randrange(2)
            state = tokens(*(random.randrange(10, 30) for _ in range(6)), 40 + answer)
            return "d", Group(0, state, [Asked(NOUL, answer, tokens(50, 51))])

        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            network = small()
            facts = {**hyperparameters(network), **readout(network, None)}
            write_gguf(folder / "start.gguf", facts, tensors_of(network, SPECIAL.marker))
            words = {f"w{i}": i for i in range(64)} | {
                "[CLS]": 1,
                "[SEP]": 2,
                "[MASK]": 3,
                "[UNK]": 0,
            }
            (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": words}}))
            for part, count in (("train", 3000), ("dev", 100)):
                with (folder / f"snli.{part}.pickle").open("wb") as file:
                    pickle.dump([group() for _ in range(count)], file)
            where = [
                "--cache",
                name,
                "--out",
                f"{name}/run",
                "--batch",
                "512",
                "--rate",
                "2e-3",
                "--device",
                "cpu",
            ]
            command = [
                sys.executable,
                "train.py",
                f"{name}/start.gguf",
                f"{name}/tokenizer.json",
                *where,
            ]
            here = Path(__file__).parent
            found = []
            for millions in ("0.03", "0.25"):
                done = subprocess.run(
                    [*command, "--tokens", millions], cwd=here, capture_output=True, text=True
                )
                self.assertEqual(done.returncode, 0, done.stderr)
                lines = (folder / "run" / "log.jsonl").read_text().splitlines()
                found.append(json.loads(lines[-2]))
            self.assertGreater(found[0]["tokens"], 30_000)
            self.assertGreater(found[1]["tokens"], 250_000)
            starts = [line for line in lines if '"start"' in line[:20]]
            self.assertIn(f'"tokens": {found[0]["tokens"]}', starts[1])
            self.assertGreater(found[1]["figures"]["snli noul"][0], 0.9)


if __name__ == "__main__":
    unittest.main()
