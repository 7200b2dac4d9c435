"""A thousand made-up values of ten kinds: a hundred people, each with one of every kind, from a seed.

Keys are put together at run time, so that no file of the repository holds anything that looks like one.
"""

import random
import string

PEOPLE = 100

SYLLABLES = ("bra", "cor", "del", "fen", "gal", "hin", "jor", "kel", "lun", "mar", "nev", "ost", "pra", "quil", "ros",
             "sel", "tam", "ulm", "ver", "wil", "yor", "zan")  # fmt: skip
AREA_CODES = (201, 212, 303, 312, 404, 415, 503, 512, 617, 702, 713, 801, 808, 907)
# Kinds that are known by their own form. The others need a word or a field's name beside them.
SELF_EVIDENT = ("email", "phone", "credit_card", "iban", "ssn", "secret", "ip_address", "url_credentials")
BY_CONTEXT = ("person_name", "date_of_birth")
KINDS = (*SELF_EVIDENT, *BY_CONTEXT)


def people(seed):
    """One dictionary of kind and value for each person. No value comes twice."""
    chance = random.Random(seed)
    seen, found = set(), []
    for number in range(PEOPLE):
        person = {}
        for kind in KINDS:
            value = MAKERS[kind](chance, number)
            while value in seen:
                value = MAKERS[kind](chance, number)
            seen.add(value)
            person[kind] = value
        found.append(person)
    return found


def record(person, number):
    """A person as a server answers it."""
    return {
        "number": number,
        "customer_name": person["person_name"],
        "email": person["email"],
        "phone": person["phone"],
        "credit_card": person["credit_card"],
        "iban": person["iban"],
        "ssn": person["ssn"],
        "date_of_birth": person["date_of_birth"],
        "api_key": person["secret"],
        "last_login_ip": person["ip_address"],
        "repository": repository(person),
        "plan": ["basic", "plus", "team"][number % 3],
        "orders": number * 7 % 40,
    }


def repository(person):
    return f"https://{person['url_credentials']}@git.orchard.example/shop.git"


# What a record calls each kind.
FIELDS = {
    "person_name": "customer_name",
    "secret": "api_key",
    "ip_address": "last_login_ip",
    "url_credentials": "repository",
}


def field(kind):
    return FIELDS.get(kind, kind)


def sentence(person):
    """All ten in running text, each as people write it."""
    return (
        f"Dear {title(person)} {person['person_name']},\n"
        f"we have written to {person['email']} and called {person['phone']}. The card {person['credit_card']} was "
        f"declined, so we took the amount from {person['iban']}. Date of birth: {person['date_of_birth']}. "
        f"SSN: {person['ssn']}. The key {person['secret']} was used from {person['ip_address']} "
        f"to fetch {repository(person)}.\n"
    )


def title(person):
    return "Mr." if len(person["email"]) % 2 else "Ms."


# One value of each kind


def word(chance, least=2, most=3):
    return "".join(chance.choice(SYLLABLES) for _ in range(chance.randint(least, most)))


def email(chance, number):
    return f"{word(chance)}.{word(chance)}{chance.randint(10, 99)}@{word(chance)}.example"


def phone(chance, number):
    if number % 2:
        return f"+44 7700 900{chance.randrange(1000):03d}"
    return f"+1 {chance.choice(AREA_CODES)}-555-01{chance.randrange(100):02d}"


def credit_card(chance, number):
    issuer = chance.choice(["4", "51", "55"])
    body = issuer + digits(chance, 15 - len(issuer))
    whole = body + luhn(body)
    return whole if number % 2 else " ".join(whole[at : at + 4] for at in range(0, 16, 4))


def luhn(body):
    """The check digit."""
    doubled = [int(digit) * (2 if at % 2 == 0 else 1) for at, digit in enumerate(reversed(body))]
    return str(-sum(value - 9 if value > 9 else value for value in doubled) % 10)


def iban(chance, number):
    country, bank = chance.choice([("DE", digits(chance, 8)), ("GB", "WEST" + digits(chance, 6))])
    account = digits(chance, 10 if country == "DE" else 8)
    rearranged = "".join(str(int(letter, 36)) for letter in f"{bank}{account}{country}00")
    return f"{country}{98 - int(rearranged) % 97:02d}{bank}{account}"


def ssn(chance, number):
    area = chance.choice([*range(100, 666), *range(667, 900)])
    return f"{area}-{chance.randint(10, 99)}-{chance.randint(1000, 9999)}"


def secret(chance, number):
    letters = string.ascii_letters + string.digits
    prefix, length = [("ghp" + "_", 36), ("sk_" + "live_", 24), ("glpat" + "-", 20), ("AKI" + "A", 16)][number % 4]
    allowed = string.ascii_uppercase + "234567" if length == 16 else letters
    return prefix + "".join(chance.choice(allowed) for _ in range(length))


def ip_address(chance, number):
    return f"{chance.choice([23, 45, 81, 93, 109, 151])}.{'.'.join(str(chance.randint(100, 250)) for _ in range(3))}"


def url_credentials(chance, number):
    return f"{word(chance)}:{word(chance)}-{digits(chance, 4)}{word(chance)}"


def person_name(chance, number):
    return f"{word(chance).capitalize()} {word(chance, 3, 4).capitalize()}"


def date_of_birth(chance, number):
    return f"{chance.randint(1940, 2003)}-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d}"


def digits(chance, count):
    return "".join(chance.choice(string.digits) for _ in range(count))


MAKERS = {
    "email": email,
    "phone": phone,
    "credit_card": credit_card,
    "iban": iban,
    "ssn": ssn,
    "secret": secret,
    "ip_address": ip_address,
    "url_credentials": url_credentials,
    "person_name": person_name,
    "date_of_birth": date_of_birth,
}
