# SPDX-FileCopyrightText: joulecast authors
# SPDX-License-Identifier: GPL-2.0-or-later
"""joulecastd as its unit starts it, on both kernels."""
import os
import time

USER = 1234
PROGRAM = "a-program-with-a-long-name"  # comm has only 15 bytes of it
AS_USER = "setpriv --reuid %d --regid %d --clear-groups " % (USER, USER)
DROP_IN = "/run/systemd/system/joulecastd.service.d/phone.conf"
EMULATED = "[Service]\nTimeoutStartSec=600\n"  # the kernel takes long to check the programs here

# Its name is that of its file: argv has another, and no unit of a session names it.
OTHERS_APP = """cp /bin/dash /tmp/%(program)s
group=/sys/fs/cgroup/user.slice/user-%(user)d.slice/session-9.scope
mkdir -p $group
cat > /tmp/app <<'END'
echo $$ > $1/cgroup.procs
echo $$ > /tmp/app.pid
exec %(as_user)s bash -c "exec -a other /tmp/%(program)s -c 'while :; do /bin/true; done'"
END
setsid sh /tmp/app $group > /dev/null 2>&1 < /dev/null &
""" % {"program": PROGRAM, "user": USER, "as_user": AS_USER}


def wait_for(phone, script, seconds=90):
    """Until it succeeds, in the phone; whether it did."""
    return phone.run("n=0; until %s; do n=$((n + 1)); [ $n -lt %d ] || exit 1; sleep 0.5; done" % (script, 2 * seconds),
                     seconds + 60)[0] == 0


def main_pid(phone):
    return int(phone.output("systemctl show -P MainPID joulecastd"))


def journal(phone):
    return phone.output("journalctl -q -o cat -u joulecastd")


def is_without_rights(suite, pid):
    status = dict(line.split(":", 1) for line in suite.phone.output("cat /proc/%d/status" % pid).splitlines())
    user = suite.phone.output("id -u joulecast").strip()
    suite.check(status["Uid"].split() == [user] * 4 != ["0"] * 4, "it is the user joulecast,", status["Uid"].strip())
    suite.check(all(int(status["Cap" + kind], 16) == 0 for kind in ("Inh", "Prm", "Eff", "Amb")),
                "it has no capability")
    suite.check(status["Seccomp"].strip() == "2" and status["NoNewPrivs"].strip() == "1", "it is filtered")


def names_apps(suite):
    phone = suite.phone
    phone.write("/tmp/other", OTHERS_APP)
    phone.output("sh /tmp/other")
    suite.check(wait_for(phone, "joulecast apps --json | grep -q %s" % PROGRAM),
                "root sees another user's app by its program's name")
    suite.check(wait_for(phone, AS_USER + "joulecast apps --json | grep -q %s" % PROGRAM),
                "that user sees it from the service")
    code, said = phone.run(AS_USER + "joulecast apps --json")
    others = code != 0 or "sys:" in said.replace("sys:phone-agent", "")  # which starts that user's programs
    suite.check(not others, "and no other's", said if others else "")
    phone.output("kill $(cat /tmp/app.pid)")


def keeps_files(suite):
    phone = suite.phone
    owners = "stat -c %U /var/lib/joulecast /var/lib/joulecast/*"
    suite.check(set(phone.output(owners).split()) == {"joulecast"}, "its files are its own")
    phone.output("sed /^match/d $(find /usr /opt -name nexus-one.ini -path '*profiles*' | head -n 1) > "
                 "/tmp/profile.ini")
    code, said = phone.run("umask 077; joulecast profile use /tmp/profile.ini")
    suite.check(code == 0, "root takes a profile:", said.strip())
    code, said = phone.run(AS_USER + "joulecast cost --from -1h --json")
    suite.check(code == 0, "the service reads it for users:", said.strip()[:200])
    phone.output("systemctl stop joulecastd && chown -R root:root /var/lib/joulecast && systemctl start joulecastd",
                 660)
    suite.check(set(phone.output(owners).split()) == {"joulecast"}, "files of an older version, root's, become its own")
    code, said = phone.run("joulecast poll --count 2 --interval 0.5", 660)  # it loads its programs, too
    suite.check(code == 1 and "another user can change its folder" in said,
                "root does not record into another user's folder:", said.strip())
    suite.check("cannot write" not in journal(phone), "it could always write")


def is_watched(suite):
    phone = suite.phone
    phone.write(DROP_IN, EMULATED + "WatchdogSec=20\nTimeoutAbortSec=1\nRestartSec=0")
    phone.output("systemctl daemon-reload; systemctl restart joulecastd", 660)
    pid = main_pid(phone)
    time.sleep(30)
    suite.check(main_pid(phone) == pid, "it lives longer than its watchdog waits")
    phone.output("kill -STOP %d" % pid)
    suite.check(wait_for(phone, "[ $(systemctl show -P MainPID joulecastd) -gt 0 ] && [ $(systemctl show -P "
                                "MainPID joulecastd) != %d ]" % pid),
                "stopped, it is started anew")


def start(suite, kernel, collector):
    phone = suite.boot(kernel=kernel)
    phone.output("mkdir -p /etc/joulecast %s" % os.path.dirname(DROP_IN))
    phone.write("/etc/joulecast/joulecast.conf", "[poller]\ninterval_s = 1\ncollector = %s" % collector)
    phone.write(DROP_IN, EMULATED)
    code, _ = phone.run("systemctl daemon-reload; systemctl start joulecastd", 660)
    said = journal(phone)
    suite.check(code == 0 and "watching all processes" in said,
                "Linux %s, %s:" % (phone.output("uname -r").strip(), collector), said.strip())
    is_without_rights(suite, main_pid(phone))
    names_apps(suite)


def service(suite):
    start(suite, "stable", "bpf-iter")
    suite.close()
    start(suite, "new", "bpf")
    keeps_files(suite)
    is_watched(suite)
    suite.rows.append("the service under systemd: no capability, both BPF collectors")
