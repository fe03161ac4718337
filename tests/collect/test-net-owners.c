/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Whose network bytes are, over the life of a process: between polls that have nothing to tell of it, after an
 * end that nobody was told, where there are more processes than places; and which interface they went through
 * when the routes change.
 *
 * Usage: test-net-owners COLLECTOR calls|functions|packets|sockets
 */

#include "net-fixture.h"

/* As interval.c does, so that the next sample leaves out who did nothing. */
static void look_and_take(void)
{
        look();
        sample.taken = true;
}

static uint64_t sent_by(pid_t pid, bool wifi)
{
        const struct process *process = find(pid);

        return !process ? 0 : wifi ? process->wifi_tx_bytes : process->other_tx_bytes;
}

static void send_and_stop(int fd, size_t bytes)
{
        write_all(fd, bytes);
        raise(SIGSTOP);
}

/* What it sent goes on from where it was, after polls that had nothing to tell of it. */
static void test_pause(bool wifi)
{
        uint64_t sent = 0;
        pid_t pid = fork();

        if (pid == 0) {
                int fd = connect_to(THERE, 7001, SOCK_STREAM);

                alarm(20);
                send_and_stop(fd, 1000);
                send_and_stop(fd, 2000);
                _exit(0);
        }
        waitpid(pid, NULL, WUNTRACED);
        look_and_take();
        check_int(sent_by(pid, wifi), 1000);
        for (int i = 0; i < 4; i++)
                look_and_take();
        kill(pid, SIGCONT);
        waitpid(pid, NULL, WUNTRACED);
        for (int i = 0; i < 20 && sent == 0; i++) {
                look_and_take();
                sent = sent_by(pid, wifi);
        }
        check_int(sent, 3000);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        look(); /* nobody takes it, so that the next lists all */
}

#define MORE_THAN_THE_RING_HOLDS 4000

/* Its pid is another's next. */
static pid_t fork_as(pid_t pid)
{
        FILE *file = fopen("/proc/sys/kernel/ns_last_pid", "w");

        if (!file)
                return -1;
        fprintf(file, "%d", (int)pid - 1);
        return fclose(file) == 0 ? fork() : -1;
}

static void send_datagram(size_t bytes)
{
        static char block[1000];
        int fd = connect_to(THERE, 7003, SOCK_DGRAM);

        (void)!send(fd, block, bytes, 0);
        usleep(50 * 1000);
}

/* -1: another took the pid before. */
static pid_t start_as(pid_t pid)
{
        pid_t child = fork_as(pid);

        if (child == 0) {
                if (getpid() == pid)
                        send_datagram(7);
                raise(SIGSTOP);
                _exit(0);
        }
        if (child < 0)
                return -1;
        waitpid(child, NULL, WUNTRACED);
        if (child == pid)
                return pid;
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        return -1;
}

/* There was no room to tell of its end: what it moved is nobody's, and not the next one's with its pid. */
static void test_lost(bool wifi)
{
        pid_t first, next = -1;

        look();
        for (int i = 0; i < MORE_THAN_THE_RING_HOLDS; i++) {
                first = fork();
                if (first == 0)
                        _exit(0);
                waitpid(first, NULL, 0);
        }
        usleep(300 * 1000); /* ends are told when the kernel gets to it */
        first = fork();
        if (first == 0) {
                send_datagram(900);
                _exit(0);
        }
        waitpid(first, NULL, 0);
        for (int i = 0; i < 100 && next != first; i++) /* before the kernel frees the first */
                next = start_as(first);
        look();
        look();
        check_int(next, first);
        check(source->lost > 0);
        check_int(sent_by(first, wifi), 7);
        kill(next, SIGKILL);
        waitpid(next, NULL, 0);
}

/* Each time it goes on, it sends 100 bytes by a new socket. */
static pid_t start_sender(void)
{
        pid_t child = fork();

        if (child == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;) {
                        send_datagram(100);
                        raise(SIGSTOP);
                }
        }
        return child;
}

static void go_on(pid_t pid)
{
        kill(pid, SIGCONT);
        waitpid(pid, NULL, WUNTRACED);
}

static void end_process(pid_t pid)
{
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
}

#define SENDERS 1400 /* of 1,024 places (lib/bpf/net-packets.bpf.h) */

static void wait_for_all(const pid_t *pids, size_t first, size_t step)
{
        for (size_t i = first; i < SENDERS; i += step)
                waitpid(pids[i], NULL, WUNTRACED);
}

static void check_all(const pid_t *pids, size_t first, uint64_t want, bool wifi)
{
        size_t right = 0;

        for (size_t i = first; i < SENDERS; i += 2)
                right += sent_by(pids[i], wifi) == want;
        check_int(right, SENDERS / 2);
}

/* Who finds its place taken has its bytes elsewhere, also when it is free again; others take it then. */
static void test_more_than_places(bool wifi)
{
        static pid_t pids[SENDERS];

        for (size_t i = 0; i < SENDERS; i++)
                pids[i] = start_sender();
        wait_for_all(pids, 0, 1);
        look();
        check_all(pids, 0, 100, wifi);
        check_all(pids, 1, 100, wifi);
        for (size_t i = 0; i < SENDERS; i += 2)
                end_process(pids[i]);
        usleep(300 * 1000); /* the kernel frees them when it gets to it */
        for (size_t i = 0; i < SENDERS; i += 2)
                pids[i] = start_sender();
        for (size_t i = 1; i < SENDERS; i += 2)
                kill(pids[i], SIGCONT);
        wait_for_all(pids, 0, 1);
        look();
        check_all(pids, 0, 100, wifi);
        check_all(pids, 1, 200, wifi);
        for (size_t i = 0; i < SENDERS; i++)
                end_process(pids[i]);
}

/* A socket without a connection belongs to the interface of the default route, and that has another since. */
static void test_route(void)
{
        pid_t pid = fork();

        if (pid == 0) {
                struct sockaddr_in at = address(THERE, 7003);
                int fd = socket(AF_INET, SOCK_DGRAM, 0);
                char block[100] = { 0 };

                prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;) {
                        sendto(fd, block, sizeof(block), 0, (struct sockaddr *)&at, sizeof(at));
                        raise(SIGSTOP);
                }
        }
        waitpid(pid, NULL, WUNTRACED);
        look();
        check_int(sent_by(pid, true), 100);
        check_int(system("ip link add cable0 type veth peer name cable1 && ip link set cable0 up && "
                         "ip route replace default dev cable0"),
                  0);
        look(); /* notices */
        go_on(pid);
        look();
        check_int(sent_by(pid, true), way == NET_BY_PACKETS ? 200 : 100);
        check_int(sent_by(pid, false), way == NET_BY_PACKETS ? 0 : 100);
        check_int(system("for i in 1 2 3 4 5 6 7 8 9; do ip link set cable0 down; ip link set cable0 up; done; "
                         "ip link del cable0 && ip route replace default via " THERE),
                  0); /* more is told than is kept */
        look();
        go_on(pid);
        look();
        check_int(sent_by(pid, true), way == NET_BY_PACKETS ? 300 : 200);
        end_process(pid);
}

static void test_all(const char *collector, bool wifi)
{
        check(open_all(collector, wifi ? "wire0" : NULL));
        test_pause(wifi);
        if (way == NET_BY_PACKETS) {
                test_lost(wifi);
                test_more_than_places(wifi);
        }
        if (wifi && way != NET_BY_SOCKETS)
                test_route();
        close_all();
}

int main(int argc, char **argv)
{
        return run_on_wire(argc, argv, test_all);
}
