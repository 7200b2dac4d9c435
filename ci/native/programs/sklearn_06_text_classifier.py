from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import Pipeline

texts = ["refund my order", "package is late", "love this product", "great quality", "where is my parcel", "money back please", "excellent, thank you"]
labels = ["complaint", "complaint", "praise", "praise", "complaint", "complaint", "praise"]
model = Pipeline([("tfidf", TfidfVectorizer(ngram_range=(1, 2))), ("nb", MultinomialNB(alpha=0.5))])
model.fit(texts, labels)
new = ["thank you, great product", "my package never came"]
print(dict(zip(new, model.predict(new))))
result = model.predict_proba(new).round(6)
