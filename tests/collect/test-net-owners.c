/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Whose network bytes are, over the life of a process: between polls that have nothing to tell of it, after an end that
 * nobody was told, where two pids have one place in the kernel's table; and which interface they went through
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
        usleep(300 * 1000);
        for (int i = 0; i < 100 && next != first; i++)
                next = start_as(first);
        look();
        look();
        check_int(next, first);
        check(source->lost > 0);
        check_int(sent_by(first, wifi), 7);
        kill(next, SIGKILL);
        waitpid(next, NULL, 0);
}

#define PLACES 1024 /* lib/bpf/net-packets.bpf.h */

static void send_datagrams_and_stop(void)
{
        for (;;) {
                send_datagram(100);
                raise(SIGSTOP);
        }
}

/* A process that sends 100 bytes by a new socket whenever it goes on. -1: @pid, if not 0, was not to be had. */
static pid_t start_sender(pid_t pid)
{
        pid_t child = pid ? fork_as(pid) : fork();

        if (child == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (!pid || getpid() == pid)
                        send_datagrams_and_stop();
                _exit(0);
        }
        if (child < 0)
                return -1;
        waitpid(child, NULL, WUNTRACED);
        return !pid || child == pid ? child : -1;
}

/* Another one whose place is the same. Below it, or above where few pids are. */
static pid_t start_in_place_of(pid_t pid)
{
        pid_t step = pid > 16384 ? -PLACES : PLACES, other = -1;

        for (int i = 1; i < 15 && other < 0; i++)
                for (int attempt = 0; attempt < 20 && other < 0; attempt++)
                        other = start_sender(pid + i * step);
        return other;
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

/* The second has its bytes elsewhere, also when the first, whose place it is, has ended; a third finds it empty. */
static void test_same_place(bool wifi)
{
        pid_t first = start_sender(0), second = start_in_place_of(first), third;

        if (second < 0) { /* every pid that would do has its process */
                check(!"a pid in the same place");
                end_process(first);
                return;
        }
        go_on(second);
        look();
        check_int(sent_by(first, wifi), 100);
        check_int(sent_by(second, wifi), 200);
        end_process(first);
        usleep(300 * 1000); /* ends are told when the kernel gets to it */
        go_on(second);
        third = start_in_place_of(second);
        look();
        look();
        check_int(sent_by(second, wifi), 300);
        check_int(sent_by(third, wifi), 100);
        end_process(second);
        if (third > 0)
                end_process(third);
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
                         "ip route replace default dev cable0"), 0);
        look(); /* notices */
        go_on(pid);
        look();
        check_int(sent_by(pid, true), way == NET_BY_PACKETS ? 200 : 100);
        check_int(sent_by(pid, false), way == NET_BY_PACKETS ? 0 : 100);
        check_int(system("ip link del cable0 && ip route replace default via " THERE), 0);
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
                test_same_place(wifi);
        }
        if (wifi && way != NET_BY_SOCKETS)
                test_route();
        close_all();
}

int main(int argc, char **argv)
{
        const char *collector = begin(argc, argv);

        if (!collector)
                return 77;
        test_all(collector, false);
        test_all(collector, true);
        return end();
}
