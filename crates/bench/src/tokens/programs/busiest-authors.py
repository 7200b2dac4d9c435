import asyncio
from collections import Counter
from servers.documents import get_metadata, list_documents

documents = (await list_documents())["documents"]
answers = await asyncio.gather(*(get_metadata(document_id=one["document_id"]) for one in documents))
words = Counter()
for answer in answers:
    words[answer["author"]] += answer["words"]
top = sorted(words.items(), key=lambda item: (-item[1], item[0]))[:3]
result = {"documents": len(answers), "most": top}
