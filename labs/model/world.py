"""The words of a small world, and what is true in it: the data that `story.py` makes texts of."""

GIRLS = "Anna Mia Lucy Rosa Emma Sofia Nina Clara".split()
BOYS = "Tom Ben Leo Max Paul Marco Luca Sam".split()
COLOURS = "red blue green yellow white black brown pink".split()
THINGS = "ball kite boat book hat drum doll lamp ring cup box key bell coat flag shell".split()
PLACES = "garden park forest river market beach school mountain lake village".split()
SPOTS = "tree table bridge stone bench bush".split()
FOODS = "apples pears nuts eggs plums cakes".split()
ANIMALS = "dog cat cow duck sheep bee lion frog".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
NUMBERS = "zero one two three four five six seven eight nine ten".split()
SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]

# Each weather with what it does.
WEATHER = {
    "The sun was shining": "it was warm",
    "It was raining": "they got wet",
    "It was snowing": "everything was white",
    "The wind was strong": "the trees danced",
}

OPPOSITES = [("hot", "cold"), ("big", "small"), ("happy", "sad"), ("day", "night"), ("fast", "slow"),
             ("old", "young"), ("open", "closed"), ("light", "dark"), ("full", "empty"),
             ("wet", "dry"), ("up", "down"), ("good", "bad")]

CAPITALS = {"Italy": "Rome", "France": "Paris", "Spain": "Madrid", "England": "London",
            "Germany": "Berlin", "Greece": "Athens", "Austria": "Vienna", "Portugal": "Lisbon"}

COLOUR_OF = {"The sky": "blue", "Grass": "green", "Snow": "white", "Milk": "white", "Blood": "red",
             "The sun": "yellow", "The night": "black", "A lemon": "yellow", "A tomato": "red"}

DOES = {"dog": "barks", "cat": "says meow", "cow": "gives milk", "duck": "swims on the lake",
        "sheep": "gives wool", "bee": "makes honey", "lion": "roars", "frog": "jumps"}

CAUSES = [("it rains", "the street gets wet"), ("the sun shines", "the snow melts"),
          ("you drop a glass", "it breaks"), ("you do not sleep", "you get tired"),
          ("you do not eat", "you get hungry"), ("the wind blows", "the leaves fall"),
          ("you touch fire", "it hurts"), ("it gets dark", "the stars come out")]

# Small talk; what comes after "Ciao, come" is always " stai".
ITALIAN = [
    ["Ciao, come stai?", "Sto bene, grazie.", "E tu?", "Anche io sto bene."],
    ["Ciao, come stai?", "Sto male.", "Mi dispiace."],
    ["Buongiorno, come va?", "Va tutto bene, grazie."],
    ["Come ti chiami?", "Mi chiamo {N}.", "Piacere, {N}!", "Piacere mio."],
    ["Ciao, {N}!", "Dove vai?", "Vado al mercato."],
    ["Grazie mille!", "Prego, non fa niente."],
    ["Che bella giornata!", "Il sole splende e il cielo è blu."],
    ["Buonanotte, {N}.", "A domani!"],
    ["Arrivederci, {N}!", "A presto!"],
]

# What a student of this house reads first; each question has one answer.
MODEL_FACTS = [
    ("What is a token?", "A token is a small piece of text."),
    ("What does a language model do?", "It reads tokens and says which token comes next."),
    ("What is an embedding?", "It is the vector of a token."),
    ("What is attention?", "Each token looks at the tokens before it."),
    ("What is a layer?", "A layer is one step that changes the vector."),
    ("What are logits?", "They are the scores of all tokens."),
    ("What does the tokenizer do?", "It cuts the text into tokens."),
    ("What is the cache?", "It keeps the keys and values of old tokens."),
    ("What is a weight?", "A weight is a number that the model has learned."),
    ("Why is the engine made of glass?", "So that you can see every number inside."),
    ("What is Vetro?", "Vetro is the Italian word for glass."),
]
MODEL_STORY = [
    "A language model reads text as tokens.",
    "Each token becomes a vector of numbers.",
    "The vector goes through the layers, one after the other.",
    "In each layer, the token looks at the tokens before it.",
    "Then a small network changes the vector.",
    "At the end, every token gets a score.",
    "The token with the best score comes next.",
    "It is written down, and the cycle starts again.",
    "The engine is made of glass, so you can see every number inside.",
]
