"""First steps: rank, keep a process warm, score, and compare in PyTerrier.

Cells as notebooks have them; the tests run this file from top to bottom.
"""

# %% Rank the sample's questions for a request
import clariq

answer = clariq.rank(["How do I pitch a tent in strong wind?"], system="bm25-tuned", depth=3)[0]
print(f"need for clarification: {answer.need} of 4")
for hit in answer.ranking:
    print(f"{hit.score:7.3f}  {hit.id}  {hit.text}")

# %% A conversation, one request after the other, by a process that stays open
with clariq.Session("bm25-conversation", depth=1) as session:
    said = [{"user": "Tell me about Saturn."}]
    for reply in ["no, the car", "a convertible"]:
        question = session.rank({"id": "1", "said": said}).ranking[0].text
        print(f"asks: {question}")
        said += [{"system": question}, {"user": reply}]

# %% Score a run
import tempfile

with tempfile.TemporaryDirectory() as folder:
    run = f"{folder}/bm25-tuned.dev.run"
    clariq.run_command(["-q", "run", "bm25-tuned", "--split", "dev", "-o", run])
    scores = clariq.evaluate(run, ["R@5", "R@30"], split="dev")
print(scores)
assert 0 < scores["R@5"] < scores["R@30"] < 1
