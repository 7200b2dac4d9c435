# attack: fetch a page with the standard library
# expect: ok
# forbid: PWNED
# forbid: CANARY-7f3a
url = "http://127.0.0.1:@@PORT@@/"
ways = {
    "urllib": lambda: __import__("urllib.request").request.urlopen(url, timeout=0.5).read(),
    "file url": lambda: __import__("urllib.request").request.urlopen("file://@@CANARY@@").read(),
    "http": lambda: __import__("http.client").client.HTTPConnection("127.0.0.1", int("@@PORT@@"), timeout=0.5).request("GET", "/"),
    "ftp": lambda: __import__("ftplib").FTP().connect("127.0.0.1", int("@@PORT@@"), timeout=0.5),
    "smtp": lambda: __import__("smtplib").SMTP("127.0.0.1", int("@@PORT@@"), timeout=0.5),
    "xmlrpc": lambda: __import__("xmlrpc.client").client.ServerProxy(url).system.listMethods(),
}
for name, way in ways.items():
    try:
        print("PW" + "NED:", name, way())
    except Exception as error:
        print(name, type(error).__name__)
