from email.message import EmailMessage
from email import message_from_string
from string import Template

template = Template("Dear $name,\n\nyour balance is $$$amount. ${extra}\n")
body = template.substitute(name="Zoë", amount="12.50", extra="Thank you")
message = EmailMessage()
message["Subject"] = "Balance"
message["To"] = "zoe@example.com"
message.set_content(body)
parsed = message_from_string("From: a@example.com\nSubject: Hi\nX-Tag: one\nX-Tag: two\n\nline 1\nline 2\n")
result = {
    "safe": Template("$a $b").safe_substitute(a=1),
    "subject": message["subject"],
    "content": message.get_content(),
    "tags": parsed.get_all("x-tag"),
    "payload": parsed.get_payload(),
}
