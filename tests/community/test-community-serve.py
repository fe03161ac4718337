#!/usr/bin/python3
# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecast-community serve: uploads, answers, refusals, and clients that go.

Usage: test-community-serve.py JOULECAST-COMMUNITY MAKE-COMMUNITY [postgresql]
"""
import gzip
import hashlib
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time

from cluster import Cluster, program as find_program
from server import Server

program, generator = sys.argv[1:3]
failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("failed:", what)


def run(*words, code=0):
    ran = subprocess.run([program, *words], capture_output=True, text=True)
    check(ran.returncode == code, f"{words}: exit {ran.returncode}, not {code}: {ran.stderr}")
    return ran


def token(number):
    return f"{number:064x}"


def hash_of(name):
    return "h:" + hashlib.sha256(b"joulecast-app:" + name.encode()).hexdigest()[:32]


def upload(number, first=0, n=12, apps=("a", "b"), **more):
    header = {"v": 1, "client": f"{number:032x}", "first": first, "os": "x", "model": "m", "features": {"wifi": True},
              "versions": {"0": "1.0"}, "apps": {str(i): name for i, name in enumerate(apps)}, **more}
    lines = [json.dumps(header)]
    for i in range(first, first + n):
        used = [j for j in range(len(apps)) if (i + j) % 3]
        lines.append(json.dumps({"t": i * 10**12, "t2": i * 10**12 + 6 * 10**11, "level_ppm": 900001,
                                 "level2_ppm": 890001 - i,
                                 "apps": used, "own_mj": {str(j): 100 for j in used},
                                 "parts_mj": {str(j): {"cpu": 60, "odd": 1} for j in used}}))
    return ("\n".join(lines) + "\n").encode()


def refusals(server):
    mine = {"token": token(1)}
    for want, method, path, body, more in (
            (401, "POST", "/v1/samples", upload(1), {}),
            (401, "GET", "/v1/report", None, {"Authorization": "Bearer nonsense"}),
            (404, "GET", "/v2/report", None, mine), (405, "PUT", "/v1/samples", upload(1), mine),
            (405, "POST", "/v1/me", b"x", mine),
            (400, "POST", "/v1/samples", b"", mine), (400, "POST", "/v1/samples", b"nonsense\n" + upload(1), mine),
            (400, "POST", "/v1/samples", gzip.compress(upload(1))[:-9], {**mine, "Content_Encoding": "gzip"}),
            (415, "POST", "/v1/samples", upload(1), {**mine, "Content_Encoding": "br"}),
            (413, "POST", "/v1/samples", b"x" * 300000, mine),
            (413, "POST", "/v1/samples", gzip.compress(b"\n" * 5000000), mine),
            (413, "POST", "/v1/samples", gzip.compress(upload(1, n=2001)), mine),
            (400, "POST", "/v1/samples", upload(1) + upload(2), mine),
            (400, "POST", "/v1/samples", b'{"v":1,"client":"%032x","forget":true}\n' % 1, mine),
            (404, "GET", "/v1/me", None, mine), (404, "DELETE", "/v1/me", None, mine)):
        status, answer, _ = server.ask(method, path, body, **more)
        check(status == want and list(answer) == ["error"] and answer["error"],
              f"{method} {path}: {status} {answer}, not {want}")


def uploads(server):
    status, answer, _ = server.ask("POST", "/v1/samples", gzip.compress(upload(1)), token(1), Content_Encoding="gzip")
    check(status == 200 and answer == {"next": 12, "added": 12, "known": 0, "bad": 0, "why": [], "named": []},
          f"{status} {answer}")
    answer = server.ask("POST", "/v1/samples", upload(1), token(1))[1]
    check(answer["added"] == 0 and answer["known"] == 12 and answer["next"] == 12, f"again: {answer}")
    wrong = upload(1, first=12, n=2) + b'{"t":5}\nnonsense\n' + upload(1, first=20, n=1,
                                                                       features={"wifi": False}).replace(b"1.0", b"1.1")
    answer = server.ask("POST", "/v1/samples", wrong, token(1))[1]
    check(answer["added"] == 3 and answer["bad"] == 2 and answer["next"] == 21
          and answer["why"][0].startswith("line 4: "), f"{answer}")
    check(server.ask("POST", "/v1/samples", upload(1, first=30), token(2))[0] == 401, "another token may send")
    check(server.ask("GET", "/v1/me", None, token(2))[0] == 404, "another token may read")
    check(server.ask("DELETE", "/v1/me", None, token(2))[0] == 404, "another token may remove")


def one_reading(server):
    """What two programs could read in two ways is refused, or read whole. Blank lines are answered before ask() gives
    up."""
    for lengths in ("Content-Length: 3\r\nContent-Length: 5", "Transfer-Encoding: xchunked",
                    "Transfer-Encoding: chunked\r\nContent-Length: 5"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as one:
            one.sendall(f"POST /v1/samples HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token(71)}\r\n{lengths}"
                        "\r\n\r\n0\r\n\r\n".encode())
            check(one.recv(100).startswith(b"HTTP/1.1 400 "), f"{lengths}: not refused")
    members = gzip.compress(upload(71, n=5)) + gzip.compress(upload(71, first=5, n=5))
    status, answer, _ = server.ask("POST", "/v1/samples", members, token(71))
    check(status == 200 and answer["added"] == 10, f"two members: {status} {answer}")
    check(server.ask("POST", "/v1/samples", members + b"rest", token(71))[0] == 400, "data behind the last member")
    status, answer, _ = server.ask("POST", "/v1/samples", gzip.compress(upload(71, n=5) + b"\n" * 4000000), token(71))
    check(status == 200 and answer["known"] == 5, f"blank lines: {status} {answer}")
    for key in ("os", "model", "features", "versions"):
        twice = upload(71).replace(b'{', f'{{"{key}": {{}}, "{key}": {{}}, '.encode(), 1)
        check(server.ask("POST", "/v1/samples", twice, token(71))[0] == 400, f"{key} twice")
    check(server.ask("DELETE", "/v1/me", None, token(71))[0] == 200, "what was read cannot be removed")


def own_data(server, top):
    """A client's own data are returned as an upload with the same samples."""
    status, text, headers = server.ask("GET", "/v1/me", None, token(1))
    check(status == 200 and headers["Content-Type"] == "application/x-ndjson", f"{status} {text}")
    path, first = os.path.join(top, "me.ndjson"), os.path.join(top, "me.db")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    check(run("load", path, "--database", first).stdout.startswith("1 file: 15 samples are new"), text)
    rows = [json.loads(line) for line in text.splitlines()]
    headers = [row for row in rows if "v" in row]
    check([header["first"] for header in headers] == [0, 20] and headers[0]["features"] == {"wifi": True} and
          headers[1]["versions"] == {key: "1.1" for key, name in headers[1]["apps"].items() if name == "a"},
          f"{headers}")
    check(any(part == {"cpu": 60} for row in rows if "t" in row for part in row["parts_mj"].values()), "parts are lost")


def names(server):
    """A hash may be named once five clients have the app, by name or by hash; then all get the name."""
    for number in range(11, 16):
        status, answer, _ = server.ask("POST", "/v1/samples", upload(number, apps=("b", hash_of("secret"))),
                                       token(number))
        check(status == 200 and answer["named"] == [], f"{answer}")
    deadline = time.monotonic() + 60
    named = []
    while named != [hash_of("secret")] and time.monotonic() < deadline:
        time.sleep(0.1)
        first = 12 + int(time.monotonic() * 1000) * 10
        named = server.ask("POST", "/v1/samples",
                           upload(11 + first // 10 % 5, first=first, n=1, apps=("b", hash_of("secret"))),
                           token(11 + first // 10 % 5))[1].get("named", named)
    check(named == [hash_of("secret")], f"named: {named}")


def limits(server):
    for i in range(5):
        status, answer, headers = server.ask("POST", "/v1/samples", upload(40 + i), token(40 + i),
                                             X_Forwarded_For="198.51.100.7, 203.0.113.%d" % i)
        check(status == (200 if i < 3 else 429), f"new client {i}: {status} {answer}")
    check(int(headers["Retry-After"]) > 0, "no Retry-After")
    check(server.ask("POST", "/v1/samples", upload(50), token(50), X_Forwarded_For="192.0.2.9")[0] == 200,
          "another network is refused")
    for i in range(70):
        status = server.ask("GET", "/v1/me", None, token(50))[0]
        if status == 429:
            break
    check(50 <= i < 60, f"{i} requests in an hour")


def busy(server):
    """Who sends the largest uploads, one after the other, does not get all of the server's time."""
    names, more = [f"app-{i}" for i in range(30)], {"Content_Encoding": "gzip", "X_Forwarded_For": "100.64.1.1"}
    for part in range(58):
        data = gzip.compress(upload(60, 2000 * (part % 20), 1990, names), 1)
        status, answer, headers = server.ask("POST", "/v1/samples", data, token(60), **more)
        if status != 200:
            break
    check(status == 429 and "time" in answer["error"] and int(headers["Retry-After"]) > 0, f"busy: {status} {answer}")
    status, answer, _ = server.ask("POST", "/v1/samples", upload(61), token(61), X_Forwarded_For="100.64.2.1")
    check(status == 200, f"another network pays for the time: {status} {answer}")
    for number in (60, 61):
        check(server.ask("DELETE", "/v1/me", None, token(number))[0] == 200, "who was busy is not forgotten")


def networks(server):
    """IPv4 in IPv6 is IPv4, and tokens that nobody knows take no place from those who come later."""
    for i, address in enumerate(("100.64.7.1", "::ffff:100.64.7.2", "[::ffff:6440:0703]", "100.64.7.4")):
        status, answer, _ = server.ask("POST", "/v1/samples", upload(80 + i), token(80 + i), X_Forwarded_For=address)
        check(status == (200 if i < 3 else 429), f"{address}: {status} {answer}")
    for i in range(200):  # each of them once was a place in a table
        server.ask("GET", "/v1/me", None, token(1000 + i), X_Forwarded_For="100.64.8.1")
    status = server.ask("GET", "/v1/me", None, token(80), X_Forwarded_For="100.64.7.1")[0]
    check(status == 200, f"a known token is refused: {status}")
    statuses = {server.ask("GET", "/v1/report", None, "x", X_Forwarded_For="100.64.9.%d" % (i % 200))[0]
                for i in range(6001)}
    check(statuses == {401, 429}, f"a network without a limit: {statuses}")
    check(server.ask("GET", "/v1/me", None, token(80), X_Forwarded_For="100.64.7.1")[0] == 200, "another network pays")


def order(server, database, top):
    """Uploads out of order are kept as `load` keeps them, and who came by a file has no token that could be claimed."""
    late = [upload(90, first=first, n=5) for first in (10, 0, 5, 0)]
    answers = [server.ask("POST", "/v1/samples", body, token(90))[1] for body in late]
    said = [(answer["added"], answer["next"]) for answer in answers]
    check(said == [(5, 15), (5, 15), (5, 15), (0, 15)], f"{answers}")
    check(server.ask("GET", "/v1/me", None, token(90))[1].count('"t2"') == 15, "late samples are lost")
    path = os.path.join(top, "by-file.ndjson")
    with open(path, "wb") as file:
        file.write(upload(91))
    run("load", path, "--database", database)
    status, answer, _ = server.ask("POST", "/v1/samples", upload(91, first=50), token(91))
    check(status == 401 and "came by a file" in answer["error"], f"a client of a file is claimed: {status} {answer}")
    check(server.ask("GET", "/v1/me", None, token(91))[0] == 404, "a client of a file can be read")
    late = [upload(92, first=first, n=20) for first in range(0, 400, 20)]  # the last ones are summed up for a report
    check(all(server.ask("POST", "/v1/samples", body, token(92))[1]["added"] == 20 for body in late), "many uploads")
    want = json.loads(run("report", "--database", database, "--json").stdout)["samples"]
    for body in late:
        with open(path, "wb") as file:
            file.write(body)
        check(" 0 samples are new" in run("load", path, "--database", database).stdout, "a late sum changes samples")
    check(json.loads(run("report", "--database", database, "--json").stdout)["samples"] == want, "a sum is late")
    status, answer, _ = server.ask("DELETE", "/v1/me", None, token(92))
    check(answer["forgotten"]["samples"] == 400 and answer["forgotten"]["apps"] == 2, f"{answer}")
    for number in (80, 81, 82, 90, 91):
        run("forget", f"{number:032x}", "--database", database)


def quotas(database):
    """So much of a client, and so much in the database, and no more; a refusal leaves nothing, and a repeat is free."""
    with Server(program, database, "--new-clients", "3000") as server:
        for first in range(0, 20000, 10000):
            body = gzip.compress(many_names(60, first, 10000))
            status, answer, _ = server.ask("POST", "/v1/samples", body, token(60))
            check(status == 200, f"names: {status} {answer}")
        status, answer, _ = server.ask("POST", "/v1/samples", many_names(60, 20000, 1), token(60))
        check(status == 413 and "20000" in answer["error"], f"more names than may be: {status} {answer}")
        for number in (60, 61):  # those names are nobody's first any more
            status, answer, _ = server.ask("POST", "/v1/samples", upload(number, first=900, apps=("name-7",)),
                                           token(number))
            check(status == 200 and answer["added"] == 12, f"known names: {status} {answer}")
        big = gzip.compress(upload(62, n=1) + b" " * (4190000 - len(upload(62, n=1))))
        statuses = [server.ask("POST", "/v1/samples", big, token(62))[0] for _ in range(3)]
        statuses += [server.ask("POST", "/v1/samples",
                                gzip.compress(upload(62, first=i, n=1) + b" " * 4190000), token(62))[0]
                     for i in range(1, 17)]
        check(statuses[:18] == [200] * 18 and statuses[18] == 413, f"bytes of a client: {statuses}")
        kept = server.ask("GET", "/v1/me", None, token(62))[1]
        check(kept.count('"t2"') == 16, "a refused upload is kept")
    for name, most in (("--most-samples", "60"), ("--most-names", "20000"), ("--most-mib", "1")):
        with Server(program, database, name, most) as server:
            status, answer, headers = server.ask("POST", "/v1/samples", upload(63, apps=("nobody-named-it", "a")),
                                                 token(63))
            check(status == 507 and re.search("as (much|many names of apps) as it may", answer["error"]) and
                  int(headers["Retry-After"]) > 0, f"{name}: {status} {answer}")
            check(server.ask("DELETE", "/v1/me", None, token(63))[0] == 404, f"{name}: a refused client is kept")
            check(server.ask("GET", "/v1/me", None, token(61))[0] == 200, f"{name}: nothing can be read")
            if name == "--most-names":  # a client without new names is still accepted
                status, answer, _ = server.ask("POST", "/v1/samples", upload(61, first=950, apps=("name-7",)),
                                               token(61))
                check(status == 200 and answer["added"] == 12, f"known names where names are full: {status} {answer}")
    there = json.loads(run("report", "--database", database, "--json").stdout)["samples"]
    with Server(program, database, "--most-samples", str(there + 13)) as server:  # uploads are accepted up to the limit
        statuses = [server.ask("POST", "/v1/samples", upload(63, first=i * 12), token(63))[0] for i in range(4)]
        check(statuses == [200, 200, 507, 507], f"added samples: {statuses}")
        for number in (60, 61, 62, 63):
            server.ask("DELETE", "/v1/me", None, token(number))


def many_names(number, first, n):
    """One sample with @n new names of apps, in headers of 1000 each."""
    lines = []
    for at in range(first, first + n, 1000):
        names = {str(i): f"name-{i}" for i in range(at, min(at + 1000, first + n))}
        begin = at * 10**12
        lines += [{"v": 1, "client": f"{number:032x}", "first": at, "apps": names},
                  {"t": begin, "t2": begin + 6 * 10**11, "level_ppm": 900000, "level2_ppm": 890000,
                   "apps": list(map(int, names))}]
    return "\n".join(map(json.dumps, lines)).encode()


def gone(server, database):
    run("quarantine", f"{40:032x}", "--database", database)
    check(server.ask("POST", "/v1/samples", upload(40, first=99), token(40))[0] == 403,
          "a client in quarantine may send")
    check(json.loads(run("report", "--database", database,
                         "--json").stdout)["left_out"]["clients_quarantined"] == 1, "quarantine")
    run("quarantine", f"{40:032x}", "--database", database, "--release")
    check(server.ask("POST", "/v1/samples", upload(40, first=99), token(40))[0] == 200,
          "a released client may not send")
    status, answer, _ = server.ask("DELETE", "/v1/me", None, token(1))
    check(status == 200 and answer == {"client": f"{1:032x}", "forgotten": {"samples": 15, "apps": 2}},
          f"{status} {answer}")
    check(server.ask("DELETE", "/v1/me", None, token(1))[0] == 404, "forgotten twice")
    run("forget", f"{41:032x}", "--database", database)
    run("forget", f"{41:032x}", "--database", database, code=3)
    run("quarantine", f"{41:032x}", "--database", database, code=3)
    run("forget", "me", "--database", database, code=2)


def report_of_one(server, database):
    """The public part is that of `report`; bugs are only the client's own."""
    deadline = time.monotonic() + 60
    want = json.loads(run("report", "--database", database, "--client", f"{42:032x}", "--json").stdout)
    while True:
        status, answer, _ = server.ask("GET", "/v1/report", None, token(42))
        if status == 200 and answer["samples"] == want["samples"] or time.monotonic() > deadline:
            break
        time.sleep(0.2)
    check(status == 200 and answer["k"] == 5 and answer["made"] > 0, f"{status} {answer}")
    check({key: answer[key] for key in want} == want, f"{answer} {want}")


def half_sent(server):
    """A client that goes in the middle leaves nothing; one that waits forever is cut off by the server, not by us."""
    with socket.create_connection(("127.0.0.1", server.port)) as half:
        half.sendall(b"POST /v1/samples HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token(60).encode() +
                     b"\r\nContent-Length: 100000\r\n\r\n" + upload(60))
    check(server.ask("GET", "/v1/me", None, token(60))[0] == 404, "half an upload is kept")


def slow(server):
    """More connections than there may be, that send a byte now and then, stop nobody; those that wait longest go."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    many = []
    for number in range(1100):
        many.append(socket.create_connection(("127.0.0.1", server.port), timeout=10))
        many[-1].sendall(b"POST /v1/samples HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ")
        if number % 100 == 99:
            begun = time.monotonic()
            status, answer, _ = server.ask("POST", "/v1/samples", upload(70, first=number), token(70))
            took = time.monotonic() - begun
            check(status == 200 and took < 2, f"behind {number + 1} slow ones: {status} {answer} after {took:.1f} s")
    check(many[0].recv(1) == b"", "the one that waits longest stays")
    for one in many:
        one.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    check(server.ask("DELETE", "/v1/me", None, token(70))[0] == 200, "a client after slow ones")


def serve(database, top):
    with Server(program, database, "--report-every", "1", "--new-clients", "3000", "--connections", "2") as server:
        refusals(server)
        uploads(server)
        own_data(server, top)
        names(server)
        half_sent(server)
        one_reading(server)
        busy(server)
        slow(server)
        code, said = server.stop()
        check(code == 0 and "Terminated" in said and "runtime error" not in said and "Sanitizer" not in said,
              f"exit {code}: {said}")
    with Server(program, database, "--report-every", "1", "--new-clients", "3") as server:
        limits(server)
        networks(server)
        order(server, database, top)
        gone(server, database)
        report_of_one(server, database)
        code, said = server.stop(signal.SIGKILL)
    quotas(database + "-quotas" if "//" not in database else database)
    again = run("report", "--database", database, "--json").stdout
    check(json.loads(again)["clients"] == 8, f"after kill -9: {again}")


def wrong(top):
    run("serve", code=2)
    for where in ("nonsense", "127.0.0.1:65537", "127.0.0.1:4294967297", "127.0.0.1:http", "127.0.0.1:"):
        check("--listen" in run("serve", "--database", os.path.join(top, "x.db"), "--listen", where, code=1).stderr,
              f"{where}: no sentence")


with tempfile.TemporaryDirectory() as where:
    if sys.argv[3:] == ["postgresql"]:
        if not find_program("initdb"):
            print("skipped: PostgreSQL's server is not installed")
            sys.exit(77)
        os.chmod(where, 0o755)
        with Cluster(os.path.join(where, "pg")) as address:
            serve(address, where)
    else:
        serve(os.path.join(where, "s.db"), where)
        wrong(where)
sys.exit(1 if failures else 0)
