"""Requests of programs: what is asked of the gateway, what a program gets, and how redirects are followed."""

import textwrap
import unittest
from unittest import mock

from gristmill_guest import catalogue, guide, http_requests
from tests.fake_host import FakeHost, Refusal, run


class Hosts(FakeHost):
    """Answers requests by their URL, or with what was asked."""

    def __init__(self, **answers):
        super().__init__()
        self.answers = answers
        self.asked = []
        self._tools = {f"http.{method}": self._of(method) for method in http_requests.METHODS}

    def _of(self, method):
        def answer(arguments):
            self.asked.append((method, arguments))
            path = arguments["url"].split("example.com/")[-1].split("?")[0]
            said = self.answers.get(path, {})
            if isinstance(said, Exception):
                raise said
            return {"status": 200, "url": arguments["url"], "headers": {}, "text": "", **said}

        return answer


def result(code, host):
    outcome = run(textwrap.dedent(code), host)
    assert outcome["ok"], outcome
    return outcome["result"]


class Requests(unittest.TestCase):
    def test_a_response_has_what_programs_expect(self):
        host = Hosts(items={"text": '{"a": [1]}', "headers": {"content-type": "application/json"}})
        code = """
        r = await http.get("https://api.example.com/items", params={"page": 2, "none": None, "tag": ["a", "b"]})
        [r.status, r.status_code, r.ok, r.json(), r.text, r.content.decode(), r.headers["Content-Type"], repr(r)]
        """
        url = "https://api.example.com/items?page=2&tag=a&tag=b"
        text = '{"a": [1]}'
        expected = [200, 200, True, {"a": [1]}, text, text, "application/json", f"<Response 200 of {url}>"]
        self.assertEqual(result(code, host), expected)
        self.assertEqual(host.asked, [("get", {"url": url})])

    def test_bodies_go_as_json_text_bytes_or_a_form(self):
        host = Hosts()
        code = """
        url = "https://api.example.com/x"
        for options in [{"json": {"a": 1}}, {"data": "text"}, {"data": b"\\xff"}, {"data": {"a": "b c"}}]:
            await http.post(url, headers={"X-Mine": 1}, timeout=1.5, **options)
        await http.request("DELETE", url)
        """
        result(code, host)
        said = {"url": "https://api.example.com/x", "headers": {"X-Mine": "1"}, "timeout_ms": 1500}
        form = {"X-Mine": "1", "Content-Type": "application/x-www-form-urlencoded"}
        expected = [
            ("post", {**said, "json": {"a": 1}}),
            ("post", {**said, "body": "text"}),
            ("post", {**said, "body_base64": "/w=="}),
            ("post", {**said, "headers": form, "body": "a=b+c"}),
            ("delete", {"url": "https://api.example.com/x"}),
        ]
        self.assertEqual(host.asked, expected)

    def test_it_is_there_with_an_import_and_without(self):
        code = """
        import http
        from gristmill import http as ours
        from http import HTTPStatus
        [http is ours, HTTPStatus.OK.value, (await http.get("https://api.example.com/x")).ok]
        """
        with mock.patch.dict("sys.modules"):
            from gristmill_guest import namespace

            namespace.make_importable()
            self.assertEqual(result(code, Hosts()), [True, 200, True])

    def test_several_at_once(self):
        code = """
        urls = [f"https://api.example.com/{n}" for n in range(3)]
        [r.url for r in await asyncio.gather(*(http.get(url) for url in urls))]
        """
        self.assertEqual(result(code, Hosts()), [f"https://api.example.com/{n}" for n in range(3)])

    def test_an_error_of_the_host_is_an_answer_until_it_is_raised(self):
        host = Hosts(gone={"status": 404, "text": "no such thing"})
        code = """
        r = await http.get("https://api.example.com/gone")
        try:
            r.raise_for_status()
        except ToolError as error:
            said = error.message
        [r.ok, bool(r), said]
        """
        self.assertEqual(result(code, host), [False, False, "https://api.example.com/gone answered 404: no such thing"])

    def test_one_that_is_not_awaited_is_told(self):
        outcome = run('r = http.get("https://api.example.com/x").json()', Hosts())
        self.assertIn("write (await http.get(...))", outcome["error"]["message"])
        outcome = run('http.post("https://api.example.com/x")\n1', Hosts())
        self.assertEqual(outcome["error"]["kind"], "unawaited_call", outcome)

    def test_what_cannot_be_meant_is_named(self):
        for call, told in [
            ("http.get(1)", "takes the URL as text"),
            ('http.get("https://a.b", verify=False)', 'has no option "verify"'),
            ('http.get("https://a.b", timeout="5")', "number of seconds"),
            ('http.post("https://a.b", data=5)', "for JSON pass json="),
            ('http.get("https://a.b", headers=[])', "must be a dict"),
            ('http.request("TRACE", "https://a.b")', "must be one of get, head"),
        ]:
            outcome = run(f"await {call}", Hosts())
            self.assertIn(told, outcome["error"]["message"], call)

    def test_a_held_request_of_a_dry_run_has_words_for_an_answer(self):
        host = Hosts()
        host._tools["http.post"] = lambda _: {"dry_run": "not sent"}
        code = 'r = await http.post("https://api.example.com/x", json=1)\n[r.status, r.raise_for_status().json()]'
        self.assertEqual(result(code, host), [0, {"dry_run": "not sent"}])


class Redirects(unittest.TestCase):
    def test_each_is_a_request_of_its_own(self):
        host = Hosts(
            a={"status": 301, "headers": {"location": "/b"}},
            b={"status": 307, "headers": {"location": "https://api.example.com/c"}},
            c={"text": "there"},
        )
        code = '[(await http.get("https://api.example.com/a")).text]'
        self.assertEqual(result(code, host), ["there"])
        self.assertEqual([asked["url"][-1] for _, asked in host.asked], ["a", "b", "c"])
        code = '(await http.get("https://api.example.com/a", follow_redirects=False)).status'
        self.assertEqual(result(code, host), 301)

    def test_attack_a_credential_does_not_follow_to_another_host(self):
        host = Hosts(a={"status": 307, "headers": {"location": "https://other.example.com/b"}})
        code = """
        headers = {"Authorization": "Bearer x", "X-Api-Key": "y", "Cookie": "z", "Accept": "text/csv"}
        (await http.post("https://api.example.com/a", headers=headers, json={"n": 1})).url
        """
        self.assertEqual(result(code, host), "https://other.example.com/b")
        sent = {"url": "https://other.example.com/b", "json": {"n": 1}, "headers": {"Accept": "text/csv"}}
        self.assertEqual(host.asked[1], ("post", sent))

    def test_a_post_becomes_a_get_without_a_body(self):
        host = Hosts(a={"status": 303, "headers": {"location": "/b"}})
        code = 'await http.post("https://api.example.com/a", data={"n": 1}, headers={"X": "1"})\n1'
        result(code, host)
        self.assertEqual(host.asked[1], ("get", {"url": "https://api.example.com/b", "headers": {"X": "1"}}))

    def test_attack_redirects_without_an_end(self):
        host = Hosts(a={"status": 302, "headers": {"location": "/a"}})
        outcome = run('await http.get("https://api.example.com/a")', host)
        self.assertIn("redirected more than 5 times", outcome["error"]["message"])
        self.assertEqual(len(host.asked), 6)


class Refused(unittest.TestCase):
    def test_without_hosts_the_error_says_which_key_to_set(self):
        host = FakeHost()
        host._answer = mock.Mock(side_effect=Refusal(message="there is no tool", code="GM-1401", kind="unknown_tool"))
        outcome = run('await http.get("https://api.example.com/a")', host)
        self.assertIn("`allowed_hosts` under [network]", outcome["error"]["message"])

    def test_help_is_for_those_who_have_hosts(self):
        self.assertEqual(guide._about("http"), http_requests.NO_HOSTS)
        with mock.patch.object(catalogue, "servers", lambda: ["crm", "http"]):
            self.assertEqual(guide._about("http"), guide.HTTP)
        self.assertNotIn("http", guide._about("nothing like that").split("Topics:")[1])
        # Four characters are a token, or nearly.
        self.assertLess(len(guide.HTTP), 800)
