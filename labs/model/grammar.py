"""Reads a story with the grammar that `story.py` writes them by: is it one, and are its facts right?

    python3 grammar.py           shows that good stories pass and that each kind of damage is found

A story is right where its sentences are those of a plan, in the plan's order, and one value for each
slot fits them all: who is called Anna stays Anna and "she", the red ball stays red, Tuesday follows
Monday.
"""

import functools
import re

import story
import world as w

NAME = r"[A-Z][a-z]+"
VALUES = {"N": NAME, "M": NAME, "kid": "girl|boy", "She": "She|He", "she": "she|he", "her": "her|his",
          "spot": w.SPOTS, "day": w.DAYS, "day2": w.DAYS, "weather": list(w.WEATHER),
          "effect": list(w.WEATHER.values())}
VALUES |= {slot: w.COLOURS for slot in ("c1", "c2", "c3")}
VALUES |= {slot: w.THINGS for slot in ("t1", "t2")} | {slot: w.PLACES for slot in ("p1", "p2")}
SENTENCES = re.compile(r'(?<=[.!?]) (?=[A-Z"])|\n(?=Q:)')


@functools.cache
def pattern(template):
    """The template as a regular expression; a slot that occurs twice must have one value."""
    seen = set()

    def slot(match):
        name = match.group(1)
        if name in seen:
            return f"(?P={name})"
        seen.add(name)
        values = VALUES[name]
        return f"(?P<{name}>{values if isinstance(values, str) else '|'.join(values)})"

    parts = re.split(r"(\{\w+\})", template)
    return re.compile("".join(slot(re.match(r"\{(\w+)\}", part)) if part.startswith("{") else
                              re.escape(part) for part in parts))


def agree(bound):
    """Whether the values of a story fit each other."""
    boy = {bound[slot] for slot in ("kid", "She", "she", "her") if slot in bound} & {
        "boy", "He", "he", "his"}
    girl = {bound[slot] for slot in ("kid", "She", "she", "her") if slot in bound} & {
        "girl", "She", "she", "her"}
    if boy and girl or bound.get("N", 1) == bound.get("M", 2):
        return False
    if "day" in bound and "day2" in bound:
        if (w.DAYS.index(bound["day"]) + 1) % 7 != w.DAYS.index(bound["day2"]):
            return False
    return w.WEATHER[bound["weather"]] == bound["effect"] if "weather" in bound else True


def readings(sentence, plan, place, bound):
    """(place in the plan, values) of each way to read a sentence after `place`."""
    for i in range(place, len(plan)):
        for template in story.STORY[plan[i]]:
            if match := pattern(template).fullmatch(sentence):
                values = match.groupdict()
                if all(bound.get(slot, value) == value for slot, value in values.items()):
                    merged = bound | values
                    if agree(merged):
                        yield i + 1, merged


def question_plan(mood):
    return story.QUESTIONS[mood]


def fault(text, whole=True):
    """The first sentence that fits no reading of the text as a story, or None. Not `whole`: the text
    may end anywhere after a sentence."""
    sentences = SENTENCES.split(text)
    states = [(mood, 0, {}) for mood in story.PLANS]
    for sentence in sentences:
        following = []
        for mood, place, bound in states:
            asks = sentence.startswith("Q:")
            plan = question_plan(mood) if asks else story.PLANS[mood]
            for after, values in readings(sentence, plan, 0 if asks else place, bound):
                following.append((mood, len(story.PLANS[mood]) if asks else after, values))
        if not following:
            return sentence
        states = following
    if whole and not any(missing(mood, sentences) is None for mood, _, _ in states):
        return "the story has no end"
    return None


def missing(mood, sentences):
    """The first key of the plan that every story has and these sentences have not, or None."""
    for key in story.PLANS[mood]:
        if key not in story.OPTIONAL and not any(
                pattern(template).fullmatch(sentence)
                for sentence in sentences for template in story.STORY[key]):
            return key
    return None


def damages(text):
    """(what, text) for ways in which a story can go wrong."""
    sentences = SENTENCES.split(text)
    name = re.search(rf"called ({NAME})", text).group(1)
    friend = re.search(rf"friend ({NAME})", text).group(1)
    thing, colour = re.search(r"painted the (\w+) (\w+)\.", text).groups()
    other = next(c for c in w.COLOURS if c not in text)
    yield "a stranger", text.replace(f"{name} and {friend}", f"{name} and Nobody").replace(
        f"and {friend} was", "and Nobody was")
    yield "another friend", text.replace(f"friend {friend}", f"friend {name}")
    if "What colour" in text:
        yield "another colour", re.sub(f"(A: S?[Hh]e painted the {thing}) {colour}", f"\\1 {other}", text)
    yield "another thing", text.replace(f"had a {thing}", "had a world")
    if "The next day" in text:
        yield "another day", re.sub(r"The next day was \w+", "The next day was Someday", text)
    yield "a sentence twice", " ".join(sentences[:1] + sentences)
    yield "no end", " ".join(sentences[:4])
    yield "another word", text.replace("called", "named")
    yield "the other sex", re.sub(r"a (little )?girl", r"a \1boy", text) if " girl " in text else (
        re.sub(r"a (little )?boy", r"a \1girl", text))


def self_test(n=300):
    """Ends the program where a good story is refused or a damaged one accepted."""
    found = 0
    for text in story.texts("grammar", n, "story"):
        if (wrong := fault(text)) is not None:
            raise SystemExit(f"grammar: a good story was refused at: {wrong}\n{text}")
        for what, damaged in damages(text):
            if damaged != text:
                found += 1
                if fault(damaged) is None:
                    raise SystemExit(f"grammar: a damaged story was accepted ({what}):\n{damaged}")
    print(f"grammar: {n} stories accepted, {found} damaged ones refused")


if __name__ == "__main__":
    self_test()
