"""Texts of the small world of `world.py`: what the tiny model learns to speak.

    python3 story.py --seed 7 -n 5                prints five texts
    python3 story.py --seed 7 -n 5 --kind story   of one kind

A text is a list of sentences. A story is a plan, a row of keys; each key has templates, whose {slots}
are bound once for the whole story. The same templates are the grammar that `grammar.py` reads with.
"""

import argparse
import random

import world as w

STORY = {
    "intro": ["Once there was a {kid} called {N}.",
              "Once upon a time there was a little {kid} called {N}.",
              "There was a {kid} called {N}."],
    "home": ["{She} lived in a {c3} house near the {p2}.", "{She} lived near the {p2}."],
    "own": ["{She} had a {t1}.", "{N} had a {t1}."],
    "look of it": ["{She} painted the {t1} {c1}."],
    "love": ["{She} loved the {t1} very much.", "{N} loved the {t1} very much."],
    "go": ["{N} went to the {p1} on {day} with {her} friend {M}.",
           "{N} and {her} friend {M} went to the {p1} on {day}."],
    "weather": ["{weather}, so {effect}."],
    "find": ["Under a {spot}, {she} found a {t2}.", "{She} found a {t2} under a {spot}."],
    "look of that": ["The {t2} was {c2}."],
    "give": ["{N} gave the {t2} to {M}.", "{She} gave the {t2} to {M}."],
    "thank": ['"Thank you, {N}!" said {M}.', '"Oh, thank you!" said {M}.'],
    "now": ["Now {N} had the {t1}, and {M} had the {t2}."],
    "play": ["They laughed and sang together.", "They played and danced all day."],
    "joy": ["{N} was very happy, and {M} was happy too.", "{N} and {M} were very happy."],
    "praise": ["It was a wonderful day.", "What a beautiful day!"],
    "lose": ["There {she} lost the {t1}.", "On the way home, {she} lost the {t1}."],
    "look": ["{N} looked under a {spot}, but the {t1} was not there."],
    "help": ["{M} looked too, but could not find it."],
    "gone": ["Now {N} had no {t1}."],
    "cry": ["{N} cried and cried.", "{N} sat down and cried."],
    "grief": ["{N} was very sad, and {M} was sad too.", "{N} and {M} were very sad."],
    "blame": ["It was a terrible day.", "What a sad day!"],
    "next": ["The next day was {day2}."],
    "who": ["Q: Who was this story about?\nA: About a {kid} called {N}."],
    "whose": ["Q: What did {N} give?\nA: {N} gave the {t2} to {M}."],
    "where": ["Q: Where did they go?\nA: They went to the {p1}."],
    "when": ["Q: When did they go?\nA: They went on {day}."],
    "colour": ["Q: What colour was the {t1}?\nA: {She} painted the {t1} {c1}."],
    "friend": ["Q: What was the name of the friend?\nA: It was {her} friend {M}."],
    "lost": ["Q: What did {N} lose?\nA: {She} lost the {t1}."],
    "found": ["Q: What did {N} find?\nA: {She} found a {t2}."],
    "happy": ["Q: Was {N} happy or sad?\nA: {She} was very happy."],
    "sad": ["Q: Was {N} happy or sad?\nA: {She} was very sad."],
}
BEGIN = ["intro", "home", "own", "look of it", "love", "go", "weather"]
PLANS = {
    "happy": BEGIN + ["find", "look of that", "give", "thank", "now", "play", "joy", "praise", "next"],
    "sad": BEGIN + ["lose", "look", "help", "gone", "cry", "grief", "blame", "next"],
}
OPTIONAL = {"home": 0.5, "love": 0.6, "weather": 0.5, "thank": 0.6, "now": 0.7, "play": 0.7,
            "look": 0.7, "help": 0.6, "cry": 0.7, "next": 0.6, "joy": 0.9, "grief": 0.9}
QUESTIONS = {
    "happy": ["who", "whose", "where", "when", "colour", "friend", "found", "happy"],
    "sad": ["who", "where", "when", "colour", "friend", "lost", "sad"],
}


def made_up(rng):
    """A name that nobody has, such as "Takilo"."""
    return "".join(rng.choice(w.SYLLABLES) for _ in range(rng.choice((2, 3)))).capitalize()


def people(rng, n, strange=0.3):
    """`n` people as (name, is a girl), all different; some have made-up names."""
    chosen = {}
    while len(chosen) < n:
        girl = rng.random() < 0.5
        name = made_up(rng) if rng.random() < strange else rng.choice(w.GIRLS if girl else w.BOYS)
        chosen.setdefault(name, girl)
    return list(chosen.items())


def pronouns(girl):
    """The slots that a hero's sex decides."""
    return ({"kid": "girl", "She": "She", "she": "she", "her": "her"} if girl else
            {"kid": "boy", "She": "He", "she": "he", "her": "his"})


def binding(rng):
    """A value for each slot of a story."""
    (hero, girl), (friend, _) = people(rng, 2)
    c1, c2, c3 = rng.sample(w.COLOURS, 3)
    t1, t2 = rng.sample(w.THINGS, 2)
    p1, p2 = rng.sample(w.PLACES, 2)
    day = rng.randrange(7)
    weather = rng.choice(list(w.WEATHER))
    return {"N": hero, "M": friend, **pronouns(girl), "c1": c1, "c2": c2, "c3": c3, "t1": t1, "t2": t2,
            "p1": p1, "p2": p2, "spot": rng.choice(w.SPOTS), "day": w.DAYS[day],
            "day2": w.DAYS[(day + 1) % 7], "weather": weather, "effect": w.WEATHER[weather]}


def story(rng, most):
    """A cheerful or a sad story, then less than `most` questions about it."""
    mood = rng.choice(list(PLANS))
    slots = binding(rng)
    keys = [key for key in PLANS[mood] if rng.random() < OPTIONAL.get(key, 1)]
    text = " ".join(rng.choice(STORY[key]).format(**slots) for key in keys)
    asked = rng.sample(QUESTIONS[mood], min(rng.randrange(most), len(QUESTIONS[mood])))
    return "\n".join([text] + [rng.choice(STORY[key]).format(**slots) for key in asked])


def painter(rng, most):
    """Somebody paints things; up to `most` questions that only this text answers."""
    (name, girl), = people(rng, 1)
    slots, n = pronouns(girl), rng.randrange(2, 6)
    painted = list(zip(rng.sample(w.THINGS, n), rng.sample(w.COLOURS, n)))
    lines = [f"A {slots['kid']} called {name} liked colours."]
    lines += [f"{rng.choice((name, slots['She']))} painted the {t} {c}." for t, c in painted]
    rng.shuffle(painted)
    questions = [f"Q: What colour is the {t} now?\nA: {slots['She']} painted the {t} {c}." for t, c in painted]
    return "\n".join([" ".join(lines)] + questions[:rng.randrange(1, most + 1)])


def visits(rng, most):
    """Who came on which day; up to `most` questions."""
    names = [name for name, _ in people(rng, rng.randrange(2, 6))]
    came = list(zip(rng.sample(w.DAYS, len(names)), names))
    lines = [f"On {day} {name} came to the {rng.choice(w.PLACES)}." for day, name in came]
    rng.shuffle(came)
    questions = [f"Q: Who came on {day}?\nA: On {day} {name} came." for day, name in came]
    return "\n".join([" ".join(lines)] + questions[:rng.randrange(1, most + 1)])


def lookups(rng, most):
    return rng.choice((painter, visits))(rng, most)


def one_fact(rng):
    """A sentence that is true in every text."""
    i = rng.randrange(7)
    a, b = rng.choice(w.OPPOSITES)
    a, b = rng.choice(((a, b), (b, a)))
    country, city = rng.choice(list(w.CAPITALS.items()))
    what, colour = rng.choice(list(w.COLOUR_OF.items()))
    animal, does = rng.choice(list(w.DOES.items()))
    cause, effect = rng.choice(w.CAUSES)
    n = rng.randrange(1, 10)
    return rng.choice((
        f"The opposite of {a} is {b}.", f"The capital of {country} is {city}.",
        f"{what} is {colour}.", f"A {animal} {does}.", f"When {cause}, {effect}.",
        f"After {w.DAYS[i]} comes {w.DAYS[(i + 1) % 7]}.",
        f"Before {w.DAYS[(i + 1) % 7]} comes {w.DAYS[i]}.",
        f"After {w.NUMBERS[n]} comes {w.NUMBERS[n + 1]}.",
        f"Q: What is the opposite of {a}?\nA: It is {b}.",
        f"Q: What is the capital of {country}?\nA: It is {city}.",
        f"Q: What comes after {w.DAYS[i]}?\nA: {w.DAYS[(i + 1) % 7]}."))


def facts(rng):
    return "\n".join(one_fact(rng) for _ in range(rng.randrange(2, 7)))


def counting(rng):
    """Numbers in a row, sums, and apples that come and go."""
    kind, (name, girl) = rng.randrange(3), people(rng, 1)[0]
    if kind == 0:
        start = rng.randrange(1, 6)
        return ", ".join(w.NUMBERS[start:rng.randrange(start + 4, 11) + 1]).capitalize() + "."
    a = rng.randrange(2 if kind == 2 else 1, 9)
    b = rng.randrange(1, 11 - a)
    if kind == 1:
        return f"{w.NUMBERS[a].capitalize()} and {w.NUMBERS[b]} make {w.NUMBERS[a + b]}."
    food, who = rng.choice(w.FOODS), pronouns(girl)["She"]
    first, second = (w.NUMBERS[a + b], f"ate {w.NUMBERS[b]} of them") if rng.random() < 0.5 else (
        w.NUMBERS[a], f"got {w.NUMBERS[b]} more")
    left = a if "ate" in second else a + b
    return (f"{name} was a {pronouns(girl)['kid']} who had {first} {food}. {who} {second}. "
            f"Now {name} had {w.NUMBERS[left]}.")


def italian(rng):
    lines = rng.choice(w.ITALIAN)
    name = people(rng, 1)[0][0]
    return " ".join(line.format(N=name) for line in lines)


def model(rng):
    """How a language model works: the cycle in order, or questions."""
    if rng.random() < 0.5:
        start = rng.choice((0, 0, 0, rng.randrange(len(w.MODEL_STORY) - 2)))
        return " ".join(w.MODEL_STORY[start:])
    pairs = rng.sample(w.MODEL_FACTS, rng.randrange(1, 4))
    return "\n".join(f"Q: {question}\nA: {answer}" for question, answer in pairs)


def repeats(rng):
    """Made-up words that come again: what induction heads are for."""
    words = [made_up(rng).lower() for _ in range(rng.randrange(2, 6))]
    if rng.random() < 0.4:
        return f"The secret word is {words[0]}. Say the secret word: {words[0]}."
    row = ", ".join(words)
    return f"Say it again: {row}. " + " ".join([f"Again: {row}."] * rng.randrange(1, 3))


WORDS = w.THINGS + w.COLOURS + w.PLACES + w.SPOTS + w.FOODS + w.ANIMALS + w.DAYS + w.NUMBERS + w.GIRLS + w.BOYS


def rows(rng):
    """Any words, again and again, in a row or by twos: copying that knows no kind of word. Without them the
    network copies names, which it cannot guess, and guesses colours."""
    words = [rng.choice(WORDS) if rng.random() < 0.75 else made_up(rng).lower() for _ in range(rng.randrange(3, 16))]
    if rng.random() < 0.5:
        return " ".join([f"Again: {' '.join(words)}."] * rng.randrange(2, 5))
    pairs = [f"{a} {b}" for a, b in zip(words[::2], words[1::2])]
    return " ".join(", ".join(rng.sample(pairs, len(pairs))) + "." for _ in range(rng.randrange(2, 6)))


KINDS = {"story": story, "lookups": lookups, "facts": facts, "counting": counting, "italian": italian,
         "model": model, "repeats": repeats, "rows": rows}
ASK = ("story", "lookups")  # kinds that end with questions
# Lesson: the shares of the kinds, most questions. The second asks more for what must be looked up, the third
# teaches to copy.
LESSONS = {1: ([0.42, 0.22, 0.12, 0.07, 0.05, 0.06, 0.06, 0], 4),
           2: ([0.36, 0.30, 0.07, 0.13, 0.03, 0.05, 0.06, 0], 9),
           3: ([0.08, 0.20, 0.03, 0.04, 0.01, 0.02, 0.02, 0.60], 9),
           4: ([0.34, 0.28, 0.05, 0.09, 0.02, 0.03, 0.04, 0.15], 9)}


def texts(seed, n, kind=None, lesson=1):
    """`n` texts; the same seed gives the same ones, and text number i does not depend on `n`."""
    shares, most = LESSONS[lesson]
    for i in range(n):
        rng = random.Random(f"{seed}/{i}")
        chosen = kind or rng.choices(list(KINDS), shares)[0]
        yield KINDS[chosen](rng, most) if chosen in ASK else KINDS[chosen](rng)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-n", type=int, default=3)
    parser.add_argument("--kind", choices=KINDS)
    options = parser.parse_args()
    print("\n\n".join(texts(options.seed, options.n, options.kind)))
