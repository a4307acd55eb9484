"""The output of transformers: a tiny random BERT, every family of models, and MiniLM.

It needs the weights that scripts/setup installs. --only writes `families.json`, a model of every family, or
`sparse.json`, a masked language model of every family, or
`late.json`, folders of `MultiVectorEncoder` over the tiny BERT; --real writes `real.json`, the output of MiniLM for the
released files in DIR.

The texts of golden.json were written for this project; real.json refers to the released texts by
their ids and contains only numbers. families.json has no weights: the tests make them by the same
formula. Run it without options only if its files must change, because the tiny model is random.
"""

import csv
import json
import math
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from transformers import (AutoConfig, AutoModelForMaskedLM, AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification, BertModel,
                          BertTokenizerFast)

from environment import CACHE

PACKAGES = ["transformers", "torch", "numpy", "sentencepiece", "sentence-transformers"]
FOLDER = "crates/bert/tests/data"
TEXTS = [
    "How do I pitch a tent in strong wind?",
    "do you need better tent pegs",
    "",
    "tell me about bees",
    "are you interested in keeping bees or in buying honey",
    "Crème brûlée, naïve façade – 3.5 €",
    "supercalifragilisticexpialidocious",
    "do you mean the animal, the car or the operating system, and which of its versions, if any, do you use today",
]
PAIRS = [(TEXTS[0], TEXTS[1]), (TEXTS[3], TEXTS[4]), (TEXTS[3], TEXTS[1]), (TEXTS[5], TEXTS[6]), (TEXTS[0], TEXTS[7])]


def vocabulary():
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    words = sorted({word.strip("?,.") for text in TEXTS[:5] for word in text.lower().split()} - {""} - set(letters))
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    return special + letters + ["##" + letter for letter in letters] + words + list("?,.–€0123456789")


def embeddings(model, tokenizer):
    rows = []
    for text in TEXTS:
        encoded = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            states = model(**encoded).last_hidden_state[0]
        rows.append(torch.nn.functional.normalize(states.mean(0), dim=0).tolist())
    return rows


def real(folder, data):
    """Vectors of questions, and logits of dev pairs by a head that the test can compute too."""
    csv.field_size_limit(1 << 30)
    read = lambda name: list(csv.DictReader(open(data / name, encoding="utf-8", newline=""), delimiter="\t"))
    bank = {row["question_id"]: row["question"] for row in read("question_bank.tsv")}
    requests = {row["topic_id"]: row["initial_request"] for row in read("dev.tsv")}
    minilm = CACHE / "models" / "all-MiniLM-L6-v2"
    tokenizer = BertTokenizerFast(str(minilm / "vocab.txt"))
    model = BertForSequenceClassification.from_pretrained(minilm, num_labels=1).eval()
    model.classifier.weight.data = torch.tensor([[math.cos(place) for place in range(model.config.hidden_size)]])
    model.classifier.bias.data.zero_()
    # Every topic with questions from all over the bank: far more pairs that do not fit than pairs that do.
    ids = sorted(bank)[1:]
    pairs = [(topic, ids[(place * 61 + number * 977) % len(ids)])
             for place, topic in enumerate(requests) for number in range(4)]
    vectors, logits = {}, []
    with torch.no_grad():
        for question in ids[::20]:
            states = model.bert(**tokenizer(bank[question], return_tensors="pt")).last_hidden_state[0]
            vectors[question] = [round(value, 7) for value in torch.nn.functional.normalize(states.mean(0), dim=0).tolist()[:8]]
        for topic, question in pairs:
            encoded = tokenizer(requests[topic], bank[question], return_tensors="pt")
            logits.append([topic, question, round(model(**encoded).logits.item(), 6)])
    golden = {"vectors": vectors, "logits": logits}
    (folder / "real.json").write_text(json.dumps(golden).replace("], ", "],\n") + "\n", encoding="utf-8")


SIZES = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, max_position_embeddings=98, pad_token_id=0)
DEBERTA = dict(relative_attention=True, pos_att_type=["c2p", "p2c"], position_biased_input=False, type_vocab_size=0)
FAMILIES = {
    "bert": {}, "roberta": dict(type_vocab_size=1),
    "distilbert": dict(dim=16, n_layers=2, n_heads=2, hidden_dim=24), "electra": dict(embedding_size=12), "mpnet": {},
    "albert": dict(embedding_size=12, type_vocab_size=2), "deberta": DEBERTA,
    "deberta-v2": DEBERTA | dict(position_buckets=8, share_att_key=True, norm_rel_ebd="layer_norm"),
    "deberta-v2, own projections": DEBERTA | dict(position_buckets=8, position_biased_input=True, type_vocab_size=2),
    "modernbert": dict(num_hidden_layers=4, local_attention=8),
    "modernbert, biases": dict(num_hidden_layers=3, local_attention=6, layer_types=["sliding_attention", "full_attention", "sliding_attention"], norm_bias=True, attention_bias=True, mlp_bias=True, classifier_bias=True, classifier_pooling="mean", classifier_activation="silu"),
    "qwen3": dict(num_key_value_heads=1, head_dim=12, use_sliding_window=True, sliding_window=9, max_window_layers=1),
    "gemma3_text": dict(num_key_value_heads=1, head_dim=12, sliding_window=10, layer_types=["sliding_attention", "full_attention"], query_pre_attn_scalar=20, use_bidirectional_attention=True),
}
DECODERS = ["qwen3", "gemma3_text"]
PARTS = 6


def numbers(name, size):
    """The numbers of a tensor: a hash of its name, mixed with each one's place; norms are about 1."""
    seed = 2166136261
    for byte in name.encode():
        seed = (seed ^ byte) * 16777619 % 2**32
    mixed = (seed + np.arange(math.prod(size), dtype=np.uint64) * 2654435761) % 2**32
    mixed = (mixed ^ (mixed >> 16)) * 0x45D9F3B % 2**32
    uniform = (mixed ^ (mixed >> 16)).astype(np.float64) / 2**32 - 0.5
    is_norm = len(size) == 1 and name.endswith("weight")
    return torch.from_numpy((1.0 + 0.4 * uniform if is_norm else uniform).astype(np.float32)).reshape(size)


def families(folder):
    """A model of every family, whose weights the tests make by the same formula."""
    tokenizer = BertTokenizerFast(str(folder / "tiny" / "vocab.txt"))
    lines = []
    for name, more in FAMILIES.items():
        sizes = {key: SIZES[key] for key in ["max_position_embeddings", "pad_token_id"]} if name == "distilbert" else SIZES
        kind = name.split(",")[0]
        config = dict(model_type=kind, vocab_size=len(tokenizer), num_labels=2) | sizes | more
        model = AutoModelForSequenceClassification.from_config(AutoConfig.for_model(**config)).eval()
        tensors = {key: list(value.shape) for key, value in model.state_dict().items() if value.is_floating_point()}
        model.load_state_dict({key: numbers(key, size) for key, size in tensors.items()}, strict=False)
        has_segments = kind in ("bert", "electra", "albert") or "deberta" in kind
        inputs = lambda *texts: {key: value for key, value in tokenizer(*texts, return_tensors="pt").items() if has_segments or key != "token_type_ids"}
        vectors, logits = [], []
        with torch.no_grad():
            for text in TEXTS:
                states = model.base_model(**inputs(text)).last_hidden_state[0]
                vectors.append([round(value, 7) for value in torch.nn.functional.normalize(states.mean(0), dim=0).tolist()[:PARTS]])
            for pair in PAIRS:
                first, second = model(**inputs(*pair)).logits[0].tolist()
                logits.append(round(second - first, 6))
        dropout = ["dropout", "attention_dropout"] if kind == "distilbert" else ["hidden_dropout_prob", "attention_probs_dropout_prob"]
        config |= {key: getattr(model.config, key) for key in dropout + ["layer_norm_eps"] if hasattr(model.config, key)}
        entry = dict(name=name, config=config, tensors=tensors, vectors=vectors, logits=logits)
        lines.append(json.dumps(entry, separators=(",", ":")))
    (folder / "families.json").write_text("[" + ",\n".join(lines) + "]\n", encoding="utf-8")


def sparse(folder):
    """A masked language model of every family, and the weights of words by each pooling and activation,
    as sentence-transformers' SpladePooling computes them."""
    tokenizer = BertTokenizerFast(str(folder / "tiny" / "vocab.txt"))
    log = lambda logits: torch.log1p(torch.relu(logits))
    ways = {
        "max relu": lambda logits: log(logits).max(0).values,
        "sum relu": lambda logits: log(logits).sum(0),
        "max log1p_relu": lambda logits: torch.log1p(log(logits)).max(0).values,
        "sum log1p_relu": lambda logits: torch.log1p(log(logits)).sum(0),
    }
    lines = []
    for name, more in FAMILIES.items():
        sizes = {key: SIZES[key] for key in ["max_position_embeddings", "pad_token_id"]} if name == "distilbert" else SIZES
        kind = name.split(",")[0]
        if kind in DECODERS:
            continue
        config = dict(model_type=kind, vocab_size=len(tokenizer)) | sizes | more
        model = AutoModelForMaskedLM.from_config(AutoConfig.for_model(**config)).eval()
        own = dict(model.named_parameters())
        tensors = {key: list(value.shape) for key, value in own.items()}
        model.load_state_dict({key: numbers(key, size) for key, size in tensors.items()}, strict=False)
        model.tie_weights()
        has_segments = kind in ("bert", "electra", "albert") or "deberta" in kind
        weights = {}
        for way, pooled in ways.items() if kind == "bert" else [("max relu", ways["max relu"])]:
            weights[way] = []
            for text in [TEXTS[0], TEXTS[2], TEXTS[5]]:
                inputs = {key: value for key, value in tokenizer(text, return_tensors="pt").items() if has_segments or key != "token_type_ids"}
                with torch.no_grad():
                    row = pooled(model(**inputs).logits[0]).tolist()
                weights[way].append([round(value, 5) for value in row])
        dropout = ["dropout", "attention_dropout"] if kind == "distilbert" else ["hidden_dropout_prob", "attention_probs_dropout_prob"]
        config |= {key: getattr(model.config, key) for key in dropout + ["layer_norm_eps"] if hasattr(model.config, key)}
        config["architectures"] = [type(model).__name__]
        entry = dict(name=name, config=config, tensors=tensors, weights=weights)
        lines.append(json.dumps(entry, separators=(",", ":")))
    (folder / "sparse.json").write_text("[" + ",\n".join(lines) + "]\n", encoding="utf-8")


def late(folder):
    """Folders of sentence-transformers that give each token a vector: their files, and the vectors."""
    from safetensors.torch import save_file
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Dense, Normalize, Transformer
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask

    dense = lambda before, after, **more: Dense(before, after, bias=False, activation_function=torch.nn.Identity(), module_input_name="token_embeddings", **more)
    unit = lambda: Normalize(module_input_name="token_embeddings")
    expansion = lambda strategy, attend: {"strategy": strategy, "attend": attend, "length": 14}
    cases = {
        "plain": ([dense(32, 6), MultiVectorMask(), unit()], {}, None),
        "not normalised, with its input": ([dense(32, 6, use_residual=True), MultiVectorMask()], {}, None),
        "expanded, words skipped": ([dense(32, 6), MultiVectorMask([".", "?", "do"]), unit()], dict(query_expansion=expansion("fixed", False), document_length=9), {"query": "tell ", "document": "bees "}),
        "expanded, attended to": ([MultiVectorMask(["do"], skiplist_tasks=["query"]), unit()], dict(query_expansion=expansion("min", True)), None),
    }
    lines = []
    for name, (modules, settings, prompts) in cases.items():
        with tempfile.TemporaryDirectory() as own:
            base = Path(own) / "base"
            BertModel.from_pretrained(folder / "tiny").save_pretrained(base)
            BertTokenizerFast(str(folder / "tiny" / "vocab.txt"), model_max_length=96).save_pretrained(base)
            first = Transformer(str(base), **settings)
            made, tensors = Path(own) / "made", {}
            MultiVectorEncoder(modules=[first, *modules], device="cpu", prompts=prompts).save(str(made))
            files = {}
            for file in made.rglob("*"):
                at = str(file.relative_to(made))
                if file.suffix == ".json" and not at.startswith(("tokenizer", "special", "config.json")):
                    files[at] = json.loads(file.read_text(encoding="utf-8"))
                if file.suffix == ".safetensors" and "/" in at:
                    weights = load_file(file)
                    tensors[at] = {key: list(value.shape) for key, value in weights.items()}
                    save_file({key: numbers(key, size) for key, size in tensors[at].items()}, file, metadata={"format": "pt"})
            model = MultiVectorEncoder(str(made), device="cpu")
            rows = lambda vectors: [[[round(value, 6) for value in row[:4].tolist()] for row in text] for text in vectors]
            texts = [TEXTS[0], TEXTS[3], TEXTS[7]]
            entry = dict(name=name, files=files, tensors=tensors, requests=rows(model.encode_query(texts)), documents=rows(model.encode_document(texts)))
        lines.append(json.dumps(entry, separators=(",", ":")))
    (folder / "late.json").write_text("[" + ",\n".join(lines) + "]\n", encoding="utf-8")


ONLY = {"families": families, "late": late, "sparse": sparse}


def add_arguments(parser):
    parser.add_argument("--only", choices=ONLY)
    parser.add_argument("--real", type=Path, metavar="DIR")


def make(folder, arguments):
    if arguments.only:
        return ONLY[arguments.only](folder)
    if arguments.real:
        return real(folder, arguments.real)
    torch.manual_seed(1)
    tiny = folder / "tiny"
    tiny.mkdir(parents=True, exist_ok=True)
    (tiny / "vocab.txt").write_text("".join(f"{word}\n" for word in vocabulary()), encoding="utf-8")
    tokenizer = BertTokenizerFast(str(tiny / "vocab.txt"))
    config = BertConfig(vocab_size=len(vocabulary()), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=48, max_position_embeddings=96, num_labels=2, initializer_range=0.2)
    classifier = BertForSequenceClassification(config).eval()
    classifier.save_pretrained(tiny)
    logits = []
    for first, second in PAIRS:
        with torch.no_grad():
            logits.append(classifier(**tokenizer(first, second, return_tensors="pt")).logits[0].tolist())
    golden = {"texts": TEXTS, "pairs": PAIRS, "tiny": embeddings(classifier.bert, tokenizer), "logits": logits}
    minilm = CACHE / "models" / "all-MiniLM-L6-v2"
    model = BertModel.from_pretrained(minilm).eval()
    tokenizer = BertTokenizerFast(str(minilm / "vocab.txt"))
    golden["minilm"] = [[round(value, 7) for value in row[:32]] for row in embeddings(model, tokenizer)]
    families(folder)
    late(folder)
    sparse(folder)
    (folder / "golden.json").write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
