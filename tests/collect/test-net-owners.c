/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Whose network bytes are, over the life of a process: between polls that have nothing to tell of it, after an
 * end that nobody was told, where there are more processes than places; and which interface they went through
 * when the routes change.
 *
 * Usage: test-net-owners COLLECTOR calls|packets|sockets
 */

#include <pthread.h>
#include <sys/resource.h>

#include "child.h"
#include "net-fixture.h"

/* Polls like interval.c, so that the next sample leaves out inactive processes. */
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

/* A process's sent bytes continue from their last value after polls that did not report it. */
static void test_pause(bool wifi)
{
        uint64_t sent = 0;
        pid_t pid = start_child();

        if (pid == 0) {
                int fd = connect_to(THERE, 7001, SOCK_STREAM);

                prctl(PR_SET_PDEATHSIG, SIGKILL);
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
        end_child(pid);
        look(); /* not taken, so that the next sample lists all */
}

#define MORE_THAN_THE_RING_HOLDS 4000

/* Its pid is another's next. */
static pid_t fork_as(pid_t pid)
{
        FILE *file = fopen("/proc/sys/kernel/ns_last_pid", "w");

        if (!file)
                return -1;
        fprintf(file, "%d", (int)pid - 1);
        return fclose(file) == 0 ? start_child() : -1;
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
        end_child(child);
        return -1;
}

/*
 * There was no room to report its end: its bytes are in its user's sum, and not in those of the next process with its
 * pid.
 */
static void test_lost(bool wifi)
{
        pid_t first, next = -1;

        look();
        for (int i = 0; i < MORE_THAN_THE_RING_HOLDS; i++) {
                first = start_child();
                if (first == 0)
                        _exit(0);
                waitpid(first, NULL, 0);
        }
        ends_barrier(); /* they have filled the ring */
        first = start_child();
        if (first == 0) {
                send_datagram(900);
                _exit(0);
        }
        waitpid(first, NULL, 0);
        for (int i = 0; i < 100 && next != first; i++) /* before the kernel frees the first */
                next = start_as(first);
        ends_barrier();
        look();
        look();
        check_int(next, first);
        check_int(source->lost, 0);
        check_int(sent_by(first, wifi), 7);
        end_child(next);
}

/* Each time it goes on, it sends 100 bytes by a new socket. */
static pid_t start_sender(void)
{
        pid_t child = start_child();

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

#define SENDERS 1400 /* more than the 1,024 places in net_places (lib/process/bpf/net.bpf.h) */

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

static bool is_map(int fd, const char *name)
{
        struct bpf_map_info info = { 0 };
        union bpf_attr attr = {
                .info = { .bpf_fd = (uint32_t)fd, .info_len = sizeof(info), .info = (uintptr_t)&info }
        };

        return call_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) == 0 && strcmp(info.name, name) == 0;
}

/* Number of entries of our BPF map with this name, whose keys have 64 bits. */
static size_t entries_of(const char *map)
{
        size_t n = 0;

        for (int fd = 0; fd < 256; fd++) {
                uint64_t key, next;
                union bpf_attr attr = { .map_fd = (uint32_t)fd, .next_key = (uintptr_t)&next };

                if (!is_map(fd, map))
                        continue;
                for (; call_bpf(BPF_MAP_GET_NEXT_KEY, &attr) == 0; n++) {
                        key = next;
                        attr.key = (uintptr_t)&key;
                }
        }
        return n;
}

/* A process whose place is taken stays in net_elsewhere, even when the place is free again; others take it then. */
static void test_more_than_places(bool wifi)
{
        static pid_t pids[SENDERS];
        struct ends_wait wait = { 0 };

        for (size_t i = 0; i < SENDERS; i++)
                pids[i] = start_sender();
        wait_for_all(pids, 0, 1);
        look();
        check_all(pids, 0, 100, wifi);
        check_all(pids, 1, 100, wifi);
        for (size_t i = 0; i < SENDERS; i += 2)
                end_child(pids[i]);
        ends_barrier();
        for (size_t i = 0; i < SENDERS; i += 2)
                pids[i] = start_sender();
        for (size_t i = 1; i < SENDERS; i += 2)
                kill(pids[i], SIGCONT);
        wait_for_all(pids, 0, 1);
        look();
        check_all(pids, 0, 100, wifi);
        check_all(pids, 1, 200, wifi);
        check(entries_of("net_elsewhere") > SENDERS / 10);
        for (size_t i = 0; i < SENDERS; i++)
                end_child(pids[i]);
        while (ends_wait(&wait, SENDERS - MIN(entries_of("net_elsewhere"), (size_t)SENDERS),
                         SENDERS - SENDERS / 100))
                ;
        check(entries_of("net_elsewhere") <= SENDERS / 100); /* other processes run, too */
}

#define SOCKETS 6000 /* more than the 4,096 places for sockets */

static int open_socket(void)
{
        int fd = connect_to(THERE, 7003, SOCK_DGRAM);

        if (fd < 0 || send(fd, (char[100]){ 0 }, 100, 0) != 100)
                _exit(1);
        return fd;
}

/* Each socket sends 100 bytes; then all but every third are replaced by new ones, and each socket sends again. */
static void use_sockets(void)
{
        static int fds[SOCKETS];
        struct rlimit limit = { SOCKETS + 100, SOCKETS + 100 };

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
                _exit(1);
        for (int i = 0; i < SOCKETS; i++)
                fds[i] = open_socket();
        raise(SIGSTOP);
        for (int i = 0; i < SOCKETS; i++)
                if (i % 3)
                        close(fds[i]);
        for (int i = 0; i < SOCKETS; i++)
                if (i % 3)
                        fds[i] = open_socket();
        for (int i = 0; i < SOCKETS; i++)
                if (send(fds[i], (char[10]){ 0 }, 10, 0) != 10)
                        _exit(1);
        raise(SIGSTOP);
        _exit(0);
}

/* The owner of a socket is known even if there are more sockets than places, and if others took freed places. */
static void test_more_sockets_than_places(bool wifi)
{
        pid_t pid = start_child();

        if (pid == 0)
                use_sockets();
        waitpid(pid, NULL, WUNTRACED);
        look();
        check_int(sent_by(pid, wifi), SOCKETS * 100);
        go_on(pid);
        look();
        check_int(sent_by(pid, wifi), SOCKETS * 100 + SOCKETS / 3 * 2 * 100 + SOCKETS * 10);
        end_child(pid);
}

static void *execute_ourselves(void *fd)
{
        char number[16];

        snprintf(number, sizeof(number), "%d", *(int *)fd);
        execl("/proc/self/exe", "test-net-owners", "send-on", number, (char *)NULL);
        _exit(1);
}

/* Another thread than the first executes a program, which is the process then and sends on. */
static void test_exec_of_thread(bool wifi)
{
        pid_t pid = start_child();
        int status;

        if (pid == 0) {
                int fd = connect_to(THERE, 7001, SOCK_STREAM);
                pthread_t thread;

                prctl(PR_SET_PDEATHSIG, SIGKILL);
                write_all(fd, 1000);
                if (pthread_create(&thread, NULL, execute_ourselves, &fd) != 0)
                        _exit(1);
                for (;;)
                        pause();
        }
        waitpid(pid, &status, WUNTRACED);
        check(WIFSTOPPED(status));
        look();
        check_int(sent_by(pid, wifi), 3000);
        end_child(pid);
}

/* A socket without a connection belongs to the interface of the default route, and that has another since. */
static void test_route(void)
{
        pid_t pid = start_child();

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
                  0); /* more notifications than the socket holds */
        look();
        go_on(pid);
        look();
        check_int(sent_by(pid, true), way == NET_BY_PACKETS ? 300 : 200);
        end_child(pid);
}

static void test_all(const char *collector, bool wifi)
{
        check(open_all(collector, wifi ? "wire0" : NULL));
        test_pause(wifi);
        if (way != NET_BY_SOCKETS) {
                test_exec_of_thread(wifi);
                test_lost(wifi);
                test_more_than_places(wifi);
        }
        if (way == NET_BY_PACKETS)
                test_more_sockets_than_places(wifi);
        if (wifi && way != NET_BY_SOCKETS)
                test_route();
        close_all();
}

int main(int argc, char **argv)
{
        if (argc == 3 && strcmp(argv[1], "send-on") == 0)
                send_and_stop(atoi(argv[2]), 2000);
        return run_on_wire(argc, argv, test_all);
}
