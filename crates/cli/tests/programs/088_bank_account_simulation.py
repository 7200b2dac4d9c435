class InsufficientFunds(Exception):
    def __init__(self, needed, available):
        self.needed, self.available = needed, available
        super().__init__(f"needs {needed}, has {available}")


class Account:
    def __init__(self, owner, balance=0):
        self.owner = owner
        self._balance = balance
        self.history = []

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("deposit must be positive")
        self._balance += amount
        self.history.append(("deposit", amount))

    def withdraw(self, amount):
        if amount > self._balance:
            raise InsufficientFunds(amount, self._balance)
        self._balance -= amount
        self.history.append(("withdraw", amount))

    def transfer(self, other, amount):
        self.withdraw(amount)
        other.deposit(amount)


ann, bob = Account("Ann", 100), Account("Bob")
ann.transfer(bob, 30)
for action in (lambda: ann.withdraw(500), lambda: bob.deposit(-1), lambda: bob.transfer(ann, 10)):
    try:
        action()
    except InsufficientFunds as e:
        print(f"{e} (short by {e.needed - e.available})")
    except ValueError as e:
        print(e)
for account in (ann, bob):
    print(account.owner, account._balance, account.history)
