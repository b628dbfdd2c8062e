"""The texts behind the golden files: prompts, one long prose text, strings hard to tokenise.

All of it was written for this project. A change here changes ids: run make_golden_ids.py and
make_golden.py again and commit what they write.
"""

# A prompt is (name, text); text None means "no text: the id of BOS alone".
PROMPTS = (
    ("english", "The capital of France is"),
    ("story", "Once upon a time, at the edge of a deep forest, there was a little"),
    ("code", "def fibonacci(n):\n    if n < 2:\n        return n\n    return "),
    ("cpp", "#include <vector>\n\nint sum(const std::vector<int> &values) {\n  int total = 0;\n"),
    ("digits", "3.14159265358979 and 2.718281828, 1,000,000 + 42 ="),
    ("accents", "Le café fermé à Besançon, où l'été naît déjà, attend"),
    ("emoji", "I ❤️ 🍕 and 👩‍👩‍👧‍👦 at the 🏖️! 🎉🎉"),
    ("cjk", "今天天气很好,我们去公园散步。東京は日本の首都"),
    ("cyrillic", "Москва является столицей России, а Волга"),
    ("spaces", "a  b   c    d          e"),
    ("whitespace", "   \t \n\n  \t\t "),
    ("bos", None),
    ("single", "A"),
    ("newlines", "Shopping list:\n\n- milk\n- bread\n\n\n- eggs\n\n\n\n- "),
    ("mixed", "Der Preis (€ 19,99) stieg um 7 % — см. стр. 12; 価格は¥2,400 🙂 <b>ok</b>"),
    ("json", '{"name": "Ada", "born": 1815, "tags": ["maths", "engines"], "friend": {"name": "'),
    ("greek", "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας και"),
    ("long", (
        "A loom is a machine for weaving cloth. Its frame holds many parallel threads, called the "
        "warp, under an even tension. The weaver lifts some of them and lowers the others, and "
        "through the gap between the two sheets passes a shuttle that carries the crossing thread, "
        "the weft. A comb then beats the new thread against the cloth, the sheets change places, "
        "and the shuttle returns. Everything else is refinement. In the patterned looms of the "
        "eighteenth century a boy sat above the frame and pulled cords in the order that the "
        "design required. A chain of punched cards later took his place: where a card had a hole, "
        "a needle passed and a thread rose; where it had none, the needle was pushed back and the "
        "thread stayed down. One card stood for one passage of the shuttle, and a portrait in silk "
        "could need twenty thousand of them. The cards did not know what they drew. They were read "
        "one after another, and the picture was in their order. It is tempting to say that this "
        "was the first program, and")),
)

# For the small dump of every value: short, yet with a capital, digits and punctuation.
HOOK_PROMPT = "The river was 300 m wide."

# At least 750 tokens in both vocabularies; likelihoods are taken over its first 800.
PROSE = """\
The keeper of the light at Saint Orrin's Head had written in his journal every evening for \
thirty-one years, and in all that time he had never once recorded a thing that surprised him. \
The wind was from the west, or it was from the north. The lamp was trimmed at six. A brig \
passed, or a schooner, or nothing passed at all, and the gulls quarrelled over the rocks below. \
He did not think of this as a dull life. He thought of it as a page ruled with straight lines, \
and he was proud of the lines.

On the fourth of November the glass fell faster than he had ever seen it fall. By noon the sky \
in the south had turned the colour of slate, and the sea, which should have been rising, lay \
strangely flat, as if a great hand had been laid upon it. The keeper carried two extra cans of \
oil up the hundred and twelve steps, wiped the lenses with a soft cloth, and looked to the \
shutters on the weather side. Then he sat down on the iron stool beside the lamp and waited, for \
there was nothing else to be done.

The storm came at dusk. It came first as a sound, a low note like the longest pipe of an organ, \
and then as a wall of rain that struck the glass so hard that he put up his arm to guard his \
face. The tower shook. He had been told as a young man that a tower which does not shake is a \
tower which will fall, and he repeated this to himself now, counting the seconds between one \
great blow and the next. Below him the waves had begun to climb the rock. He could hear them \
break, and after each of them a long hiss as the water ran back over the stones, and then a \
silence in which he caught himself holding his breath.

It was a little after nine when he saw the ship. She was nearer than any ship ought to be, a \
dark shape without a single light, and she was turning slowly, as a leaf turns in a pool. Her \
foremast was gone. He thought that he could make out men in the rigging of the other mast, but \
the rain came between them again and he was not certain. He did what the rules required. He \
fired the signal gun from the gallery, once, and then a second time, though he knew that the \
boat at Penn Harbour could not be launched in such a sea. Then he did a thing the rules did not \
require. He took the spare lamp, lit it, wrapped himself in his oilskin, and went down the \
hundred and twelve steps to the door.

There is a channel on the north side of the Head, narrow and crooked, which the fishermen use in \
summer when they are in a hurry to be home. No stranger would guess that it is there. The keeper \
had drawn it many times in the margins of his journal, with the depths at low water set down \
beside it in small, neat figures: four fathoms at the mouth, three at the bend, seven beyond. A \
ship of that size could pass if she were brought to it exactly, and if the man at the wheel \
could see where the bend began. He tied one end of a rope to the iron ring beside the door and \
the other about his waist, and he went out along the ledge with the lamp held high above his \
head.

What happened in the following hour he set down afterwards in eleven lines, and they are the \
only lines in the journal where the hand is not steady. He stood at the bend. He swung the lamp \
from left to right and from right to left, slowly, as one does for the fishing boats. Twice the \
sea took his feet from under him and twice the rope held. He could not tell whether anyone had \
seen the light. He had begun to think of the door, and of the stove behind it, when he heard \
quite close to him, so close that he might have answered it, a voice calling out the depth.

She came through with her yards almost touching the rock. He saw a row of white faces at the \
rail, and a boy no older than twelve who lifted his cap. Then she was past, and in the quiet \
water behind the Head he heard the anchor go down. When he had climbed back to the lamp room he \
trimmed the wick, for it had burned unevenly, and he opened the journal at the page for the day. \
He considered for some time what he ought to write. The wind, he wrote at last, was from the \
south. The lamp was trimmed at six, and again at eleven. One ship passed. He looked at the \
words, and then he did something that he had never done before in thirty-one years: he drew a \
line through them and began again from the beginning.
"""

HARD_STRINGS = (
    "", " ", "  ", "   ", "\t", "\n", "\n\n\n", "\r\n", " \n \n", "\t\t a\t\n",
    "a" + " " * 40 + "b", " " * 64, "\n" * 40, "\t" * 20, "x \n\t y\r\n z ",
    "Hello", " Hello", "Hello ", "Hello, world!", "HELLO wOrLd", "hello hello  hello   hello",
    "I'm you're he'll we've they'd it's don't CAN'T I'M WE'LL 'tis rock'n'roll",
    "Don\u2019t \u201cquote\u201d \u2018me\u2019\u2026 \u2013 \u2014",
    "0", "12", "123", "1234567890", "3.14159", "1,234,567.89", "0x1F 0b101 1e-10", "v1.2.3-rc4",
    "\u0661\u0662\u0663 \u0967\u0968\u0969 \u00bd \u00b2 \u2167 \u2460",
    "https://example.org/a/b?c=d&e=%20f#g", "user.name+tag@mail.example.co.uk",
    "C:\\Users\\me\\file.txt /usr/local/bin/../lib",
    "for (int i = 0; i < n; ++i) { a[i] += b[i] << 2; } // done",
    "def f(x):\n\treturn {'a': x**2, \"b\": [1, 2]}\n\n\n",
    "<html><body><p class=\"x\">text</p><br/></body></html>",
    "snake_case camelCase PascalCase SCREAMING_CASE kebab-case",
    "naïve café Ångström Übergröße œuvre", "e\u0301 a\u030a n\u0303 o\u0302\u0323",
    "Straße İstanbul ıI ﬁ ﬂ ß ẞ", "Tiếng Việt có dấu thanh", "Zażółć gęślą jaźń",
    "Привет, мир! Съешь ещё этих мягких булок", "Γειά σου Κόσμε", "שלום עולם", "مرحبا بالعالم",
    "नमस्ते दुनिया", "สวัสดีชาวโลก", "你好,世界!", "今日は世界。カタカナ ひらがな 漢字", "안녕하세요 세계",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟙𝟚𝟛 𐍈 𒀀 🀄", "🙂", "🙂🙂🙂 🎉", "👩‍👩‍👧‍👦 👨🏽‍💻 🏳️‍🌈 🇫🇷🇯🇵", "☃️ ❤ ❤️ 1️⃣",
    "\u0000", "a\u0000b", "\u0001\u0007\u001b[31m\u007f", "\u0085\u00a0\u2003\u2028\u2029\u3000x",
    "\u200b\u200c\u200d\u2060\ufeff", "\ufffd \ufffe \uffff", "\U0010ffff \ue000 \U000f0000",
    "\u2581", "a\u2581b \u2581\u2581 c", "Ġhello Ċ Ā", "<0x41><0x0A><0xFF>",
    "<|im_start|>user\nHi<|im_end|>\n", "<|endoftext|>", "a<|im_start|>b <|im_end|> c",
    "<bos>text<eos>", "<start_of_turn>model\nHi<end_of_turn>",
    "<s>[INST] x [/INST]</s> <unk> <pad>",
    "<unused0><unused99> <mask>", "<|im_start", "|im_start|>", "<start_of_image> <|fim_prefix|>",
    "Hello Привет 你好 مرحبا 🙂 123 abc123кот4猫",
    "!!! ??? ... ,,, ;;; ::: --- ___ === +++ *** ///", "#$%^&*()_+{}|:\"<>?~`-=[]\\;',./",
    "$x^2 + \\frac{1}{2}\\alpha_i \\leq \\sum_{k=0}^{n} k$", "∀x∈ℝ: ⌈x⌉ ≥ x ∧ ∫₀¹ f ≠ ∅ → ±√2",
    "pneumonoultramicroscopicsilicovolcanoconiosis", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "ababababababababababab", "            indented\n        less\n    again\nnone",
    "word" * 25, "a\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307 z\u0335\u0336a\u0337l\u0338",
    "\u1112\u1161\u11ab \u1100\u1161", "\u202eright-to-left\u202c \u2066iso\u2069",
    "x\n y\n  z\n   \n", "end with newline\n", "\ntwo\n\nfour\n\n\n\neight\n\n\n\n\n\n\n\n",
    "1 000 000 \u00a01\u202f000", "12 345, 6'789 and 10:30:45 on 2024-02-29T23:59:60Z",
)
