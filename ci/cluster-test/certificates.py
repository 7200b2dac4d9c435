"""A certificate for the addresses of a bus from an authority that nobody else trusts, made by `openssl`."""

from nkeys import openssl

CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
EXTENSIONS = "basicConstraints=CA:FALSE\nsubjectAltName={names}\nextendedKeyUsage=serverAuth\n"


class Certificates:
    def __init__(self, folder, addresses):
        self.authority, self.server, self.key = (folder / f"{name}.pem" for name in ("ca", "server", "server-key"))
        authority_key, request, extensions = (folder / name for name in ("ca-key.pem", "server.csr", "server.ext"))
        extensions.write_text(EXTENSIONS.format(names=",".join(f"IP:{one}" for one in addresses)))
        name = ["-subj", "/CN=cluster test"]
        openssl("req", "-x509", *CURVE, *name, "-days", "2", "-keyout", authority_key, "-out", self.authority)
        openssl("req", *CURVE, "-subj", "/CN=127.0.0.1", "-keyout", self.key, "-out", request)
        signed_by = ["-CA", self.authority, "-CAkey", authority_key, "-CAcreateserial", "-days", "2"]
        openssl("x509", "-req", "-in", request, *signed_by, "-extfile", extensions, "-out", self.server)
