/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Bursts of packets by process, over a wire that is taken for WiFi and then for a modem. Each packet and byte is in
 * one burst, whoever sends at the same time and whenever a poll comes. A burst begins at its first packet, and its
 * recorded end is less than a jiffy before its last packet.
 *
 * Usage: test-net-bursts COLLECTOR calls|packets|sockets
 */

#include <net/if.h>
#include <pthread.h>
#include <sys/mman.h>

#include <bpf/libbpf.h>

#include "net-sender.h"
#include "process/process-bpf.h"
#include "process.skel.h"

static void *echo_small(void *unused)
{
        int fd = connect_to(THERE, 7003, SOCK_DGRAM);
        char block[LARGE];

        for (int i = 0; i < 300; i++) {
                (void)!send(fd, block, i % 3 ? SMALL : LARGE, 0);
                (void)!recv(fd, block, sizeof(block), 0);
        }
        return NULL;
}

#define FLOOD 20000

static void *flood_small(void *unused)
{
        send_some(FLOOD, SMALL);
        return NULL;
}

#define THREADS 4 /* that echo, and as many that flood */

static void use_all(void)
{
        pthread_t threads[2 * THREADS];
        int fd;

        raise(SIGSTOP);
        for (int i = 0; i < 2 * THREADS; i++)
                if (pthread_create(&threads[i], NULL, i % 2 ? echo_small : flood_small, NULL) != 0)
                        _exit(1);
        fd = connect_to(THERE, 7001, SOCK_STREAM);
        write_all(fd, BYTES);
        close(fd);
        fd = connect_to(THERE, 7002, SOCK_STREAM);
        read_all(fd, 0);
        close(fd);
        for (int i = 0; i < 2 * THREADS; i++)
                pthread_join(threads[i], NULL);
}

/* Counting by calls does not see retransmissions of a slow machine, which bursts contain as packets. */
static void check_bytes(uint64_t in_bursts, uint64_t of_process)
{
        if (way == NET_BY_CALLS && in_bursts > of_process && in_bursts <= of_process + of_process / 100)
                return;
        check_int(in_bursts, of_process);
}

/* The process's totals, which the bursts of all polls add up to. */
static void check_totals(const struct process *process, const struct sum *sum)
{
        bool wifi = air == AIR_WIFI;

        check_int(sum->packets[RADIO_TX], wifi ? process->wifi_tx_packets : process->other_tx_packets);
        check_int(sum->packets[RADIO_RX], wifi ? process->wifi_rx_packets : process->other_rx_packets);
        check_bytes(sum->bytes[RADIO_TX], wifi ? process->wifi_tx_bytes : process->other_tx_bytes);
        check_bytes(sum->bytes[RADIO_RX], wifi ? process->wifi_rx_bytes : process->other_rx_bytes);
        check_int(wifi ? process->other_tx_packets + process->other_rx_packets
                       : process->wifi_tx_packets + process->wifi_rx_packets, 0);
}

/* Polls until the end of the process is reported, and sums its bursts. */
static const struct process *look_until_its_end(pid_t pid, uint64_t start_time, struct sum *sum)
{
        struct ends_wait wait = { 0 };
        const struct process *process;

        do {
                look();
                add(sum, pid, start_time);
                process = find(pid);
        } while (ends_wait(&wait, process && process->ended_ns > 0, 1));
        check(process && process->ended_ns > 0);
        return process;
}

static void test_sums(void)
{
        const struct process *process;
        struct sum sum = { 0 };
        pid_t pid = start(use_all);
        uint64_t start_time;
        size_t polls = 0;

        wait_for(pid);
        look();
        start_time = start_of(pid);
        kill(pid, SIGCONT);
        for (; waitpid(pid, NULL, WNOHANG) == 0; polls++) {
                look();
                add(&sum, pid, start_time);
        }
        process = look_until_its_end(pid, start_time, &sum);
        fprintf(stderr, "all: %llu sent, %llu received in %llu bursts of %zu polls\n",
                (unsigned long long)sum.packets[RADIO_TX], (unsigned long long)sum.packets[RADIO_RX],
                (unsigned long long)sum.n, polls);
        if (!process)
                return;
        check_totals(process, &sum);
        check(sum.bytes[RADIO_TX] >= BYTES + THREADS * 100 * (LARGE + 2 * SMALL));
        check(sum.bytes[RADIO_RX] >= BYTES + THREADS * 100 * (LARGE + 2 * SMALL));
        check(sum.packets[RADIO_TX] >= THREADS * (FLOOD + 300));
        check(sum.large >= 2 * THREADS * 100);
}

/* When each packet was sent, by its sender's clock. */
#define SENT 16
static struct {
        uint64_t before_ns, after_ns;
} *sent;

/* Two groups. */
static void send_in_groups(void)
{
        int fd = socket(AF_INET, SOCK_DGRAM, 0);

        for (int i = 0; i < SENT; i++) {
                usleep(i == SENT / 2 ? 200 * 1000 : 5 * 1000);
                sent[i].before_ns = util_boottime_ns();
                send_to(fd, SILENT_PORT, i % 2 ? SMALL : LARGE);
                sent[i].after_ns = util_boottime_ns();
        }
        raise(SIGSTOP);
}

static int by_time(const void *a, const void *b)
{
        int64_t one = ((const struct process_burst *)a)->burst.first_ns,
                other = ((const struct process_burst *)b)->burst.first_ns;

        return one < other ? -1 : one > other;
}

#define CLOCK_NS 10000 /* error of the kernel's fast clock, at most */

/* @early_ns: by which it may be before. */
static bool is_at(int64_t ns, size_t i, int64_t early_ns)
{
        return ns + CLOCK_NS + early_ns >= (int64_t)sent[i].before_ns && ns <= (int64_t)sent[i].after_ns + CLOCK_NS;
}

static int64_t jiffy_ns(void)
{
        struct timespec tick = { 0 };

        clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
        return tick.tv_nsec;
}

/* On a busy machine a silence is longer than was asked for, and there are more bursts. */
static void test_groups(void)
{
        struct sum sum = { 0 };
        int64_t tick_ns = jiffy_ns();
        size_t at = 0, n = 0;
        pid_t pid;

        look();
        pid = start(send_in_groups);
        wait_for(pid);
        look();
        add(&sum, pid, start_of(pid));
        check_int(sum.packets[RADIO_TX], SENT);
        check_int(sum.packets[RADIO_RX], 0);
        check_int(sum.bytes[RADIO_TX], SENT / 2 * (LARGE + SMALL));
        check_int(sum.large, SENT / 2);
        check(sum.n >= 2);
        qsort(sample.bursts, sample.n_bursts, sizeof(*sample.bursts), by_time);
        for (size_t b = 0; b < sample.n_bursts && at < SENT; b++) {
                const struct radio_burst *burst = &sample.bursts[b].burst;
                size_t last = at + burst->packets[RADIO_TX] - 1;

                if (sample.bursts[b].process.pid != pid)
                        continue;
                check(last < SENT && is_at(burst->first_ns, at, 0) && is_at(burst->last_ns, last, tick_ns));
                for (size_t i = at; i < last && last < SENT; i++)
                        check(sent[i + 1].before_ns < sent[i].after_ns + RADIO_BURST_GAP_NS);
                check(at == 0 || (int64_t)sent[at].after_ns + CLOCK_NS + tick_ns >=
                                      (int64_t)sent[at - 1].before_ns + RADIO_BURST_GAP_NS);
                at = last + 1;
                n++;
        }
        check_int(n, sum.n);
        end_child(pid);
}

static void send_and_stop(void)
{
        for (int i = 0; i < 3; i++) {
                send_some(20 + i, LARGE);
                raise(SIGSTOP);
        }
        send_some(3, SMALL); /* the process ends, with an open burst */
}

/* Each poll reports the new packets of an open burst, once. */
static void test_open(void)
{
        pid_t pid = start(send_and_stop);
        const struct process *process;
        struct sum all = { 0 }, end = { 0 };
        uint64_t start_time = 0, began_ns = 0;

        for (unsigned i = 0; i < 3; i++) {
                struct sum sum = { 0 };

                wait_for(pid);
                look();
                if (i == 0)
                        start_time = start_of(pid);
                for (size_t b = 0; b < sample.n_bursts; b++) /* the rest of a burst begins with its own first packet */
                        check(sample.bursts[b].process.pid != pid ||
                              sample.bursts[b].burst.first_ns + CLOCK_NS >= (int64_t)began_ns);
                add(&sum, pid, start_time);
                add(&all, pid, start_time);
                check_int(sum.packets[RADIO_TX], 20 + i);
                check_int(sum.bytes[RADIO_TX], (20 + i) * LARGE);
                check_int(sum.large, 20 + i);
                look();
                sum = (struct sum){ 0 };
                add(&sum, pid, start_time);
                check_int(sum.n, 0);
                began_ns = util_boottime_ns();
                kill(pid, SIGCONT);
        }
        waitpid(pid, NULL, 0);
        for (int i = 0; i < 5; i++)
                ends_barrier(); /* the kernel has freed it */
        process = look_until_its_end(pid, start_time, &end);
        check_int(end.packets[RADIO_TX], 3);
        check_int(end.large, 0);
        all.packets[RADIO_TX] += 3;
        all.bytes[RADIO_TX] += 3 * SMALL;
        if (process)
                check_totals(process, &all);
}

static void send_then_execute(void)
{
        send_some(5, SMALL);
        raise(SIGSTOP);
        send_some(6, SMALL);
        usleep(20 * 1000); /* start times are in steps of 10 ms */
        execl("/proc/self/exe", "test-net-bursts", "send-on", (char *)NULL);
        _exit(1);
}

/* The program before an exec and the one after it are two processes of a sample. */
static void test_exec(void)
{
        pid_t pid = start(send_then_execute);
        struct sum before = { 0 }, after = { 0 };
        uint64_t starts[2] = { 0 };

        wait_for(pid);
        look();
        starts[0] = start_of(pid);
        add(&before, pid, starts[0]);
        check_int(before.packets[RADIO_TX], 5);
        go_on(pid);
        look();
        for (size_t i = 0; i < sample.n_processes; i++)
                if (sample.processes[i].pid == pid && sample.processes[i].ended_ns == 0)
                        starts[1] = sample.processes[i].start_time;
        check(starts[1] != 0 && starts[1] != starts[0]);
        add(&before, pid, starts[0]);
        add(&after, pid, starts[1]);
        check_int(before.packets[RADIO_TX], 11);
        check_int(after.packets[RADIO_TX], 7);
        end_child(pid);
}

static void enter_peer(void)
{
        char path[64];
        int fd;

        snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)peer);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
                _exit(1);
        close(fd);
}

#define GROUP_PORT 7020

static void tell_all(void)
{
        struct sockaddr_in at = address("10.231.7.255", GROUP_PORT);
        int fd, yes = 1;
        char block[LARGE] = { 0 };

        enter_peer();
        fd = socket(AF_INET, SOCK_DGRAM, 0);
        setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &yes, sizeof(yes));
        for (int i = 0; i < 5; i++)
                if (sendto(fd, block, sizeof(block), 0, (struct sockaddr *)&at, sizeof(at)) != sizeof(block))
                        _exit(1);
}

/* Stops after it has received all. */
static void listen_to_all(void)
{
        int fd = socket(AF_INET, SOCK_DGRAM, 0), yes = 1;
        struct sockaddr_in at = address("0.0.0.0", GROUP_PORT);
        char block[LARGE];

        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
        if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
                _exit(1);
        raise(SIGSTOP);
        for (int i = 0; i < 5; i++)
                if (recv(fd, block, sizeof(block), 0) != sizeof(block))
                        _exit(1);
        raise(SIGSTOP);
}

static void check_nobodys(uint64_t large)
{
        struct sum sum = { 0 };

        look();
        add(&sum, 0, 0);
        check_int(sum.large, large);
        check(sum.packets[RADIO_TX] + sum.packets[RADIO_RX] >= large);
}

/* A broadcast is counted once, for no process, however many listen; and so is a socket without an owner. */
static void test_nobody(int old_fd)
{
        pid_t listeners[2], pid;
        int status;

        look();
        pid = start(tell_all);
        waitpid(pid, &status, 0);
        check_int(status, 0);
        check_nobodys(5);
        for (int i = 0; i < 2; i++) {
                listeners[i] = start(listen_to_all);
                wait_for(listeners[i]);
        }
        pid = start(tell_all);
        waitpid(pid, &status, 0);
        check_int(status, 0);
        for (int i = 0; i < 2; i++)
                go_on(listeners[i]);
        check_nobodys(5);
        for (int i = 0; i < 2; i++) {
                const struct process *process = find(listeners[i]);

                check(process && process->wifi_rx_packets + process->other_rx_packets == 0);
                end_child(listeners[i]);
        }
        send_to(old_fd, SILENT_PORT, LARGE);
        check_nobodys(1);
        send_to(old_fd, SILENT_PORT, LARGE);
        if (way == NET_BY_PACKETS) {
                check_nobodys(1);
        } else { /* the first call showed the owner */
                struct sum sum = { 0 };

                look();
                add(&sum, getpid(), start_of(getpid()));
                check_int(sum.large, 1);
                check_int(sum.bytes[RADIO_TX], LARGE);
        }
}

#define SENDERS 400
#define BURSTS_EACH (BURSTS_SIZE / (sizeof(struct burst_record) + 8) / SENDERS + 3)

static void send_bursts(void)
{
        raise(SIGSTOP);
        for (size_t i = 0; i < BURSTS_EACH; i++) {
                send_some(1, SMALL);
                usleep(60 * 1000);
        }
}

/* More bursts than there is room for: times of packets are unknown; but ends of processes are reported. */
static void test_full(void)
{
        static pid_t pids[SENDERS];

        for (size_t i = 0; i < SENDERS; i++)
                pids[i] = start(send_bursts);
        for (size_t i = 0; i < SENDERS; i++)
                wait_for(pids[i]);
        look();
        check((sample.have & SAMPLE_BURSTS) != 0);
        for (size_t i = 0; i < SENDERS; i++)
                kill(pids[i], SIGCONT);
        for (size_t i = 0; i < SENDERS; i++)
                waitpid(pids[i], NULL, 0);
        ends_barrier();
        look();
        fprintf(stderr, "full: %zu bursts of %zu were told\n", sample.n_bursts, SENDERS * BURSTS_EACH);
        check((sample.have & SAMPLE_BURSTS) == 0);
        check(sample.n_bursts > SENDERS * BURSTS_EACH / 2 && sample.n_bursts < SENDERS * BURSTS_EACH);
        check_int(source->lost, 0);
        look(); /* those that were freed late */
        look();
        check((sample.have & SAMPLE_BURSTS) != 0);
}

/* A read that fails has lost what it took. */
static void test_failure(void)
{
        struct process_collector *collector = (struct process_collector *)source;
        int fd = bpf_program__fd(collector->bpf->progs.tell_bursts), kept = dup(fd), none = open("/dev/null", O_RDONLY);

        check(kept >= 0 && dup2(none, fd) == fd);
        sample_reset(&sample);
        check(source->ops->read(source, &sample) < 0);
        check_int(dup2(kept, fd), fd);
        look();
        check((sample.have & SAMPLE_BURSTS) == 0);
        look();
        check((sample.have & SAMPLE_BURSTS) != 0);
        close(kept);
        close(none);
}

/* A radio that is plugged in, while a process sends. Until then calls alone count, and packets cost next to nothing. */
static void test_later(pid_t pid)
{
        struct process_bpf *bpf = ((struct process_collector *)source)->bpf;
        bool radio = bpf->bss->has_radio; /* this machine's own */
        struct sum sum = { 0 };

        check_int((find(pid)->have & USAGE_PACKETS) != 0, radio || way == NET_BY_PACKETS);
        check_int(find(pid)->other_tx_packets, radio || way == NET_BY_PACKETS ? 20 : 0);
        bpf->bss->for_test = (struct interface){ if_nametoindex("wire0"), KIND_CELLULAR };
        /* Interfaces change. */
        check_int(system("ip link add radio0 type veth peer name radio1 && ip link del radio0"), 0);
        look();
        air = AIR_CELLULAR;
        go_on(pid);
        look();
        add(&sum, pid, start_of(pid));
        check_int(sum.packets[RADIO_TX], 21);
        check_int(sum.bytes[RADIO_TX], 21 * LARGE);
        check(find(pid)->have & USAGE_PACKETS);
        check_int(find(pid)->other_tx_bytes, 41 * LARGE);
}

/* Traffic by cable is in no burst. */
static void test_cable(const char *collector)
{
        pid_t pid;

        check(open_all(collector, NULL));
        pid = start(send_and_stop);
        wait_for(pid);
        look();
        check(find(pid) && find(pid)->other_tx_bytes == 20 * LARGE);
        check_int((sample.have & SAMPLE_BURSTS) != 0, way != NET_BY_SOCKETS);
        for (size_t i = 0; i < sample.n_bursts; i++)
                check(sample.bursts[i].process.pid != pid);
        if (way != NET_BY_SOCKETS)
                test_later(pid);
        end_child(pid);
        close_all();
}

static void test_all(const char *collector, enum air which)
{
        int old_fd = socket(AF_INET, SOCK_DGRAM, 0); /* older than the collector */

        air = which;
        check(open_all(collector, "wire0"));
        if (way != NET_BY_SOCKETS) {
                test_sums();
                test_groups();
                test_open();
                test_exec();
                test_nobody(old_fd);
                test_failure();
                if (air == AIR_WIFI)
                        test_full();
        } else {
                look();
                send_to(old_fd, SILENT_PORT, LARGE);
                look();
                check_int(sample.n_bursts, 0);
                check((sample.have & SAMPLE_BURSTS) == 0);
        }
        close_all();
        close(old_fd);
}

/* Where there is no place for programs that see packets, calls go on to count bytes. For the rest of this process. */
static void test_without_packets(const char *collector)
{
        pid_t pid;

        if (unshare(CLONE_NEWNS) < 0 ||
            system("mount --make-rprivate / && umount -l $(sed -n 's/^[^ ]* [^ ]* [^ ]* [^ ]* \\([^ ]*\\) .* "
                   "- cgroup2 .*/\\1/p' /proc/self/mountinfo)") != 0)
                return;
        check(open_all(collector, "wire0"));
        check((source->counts & COUNTS_NET) && source->net_by == NET_BY_CALLS && !(source->counts & COUNTS_BURSTS));
        pid = start(send_and_stop);
        wait_for(pid);
        look();
        check(find(pid) && find(pid)->other_tx_bytes == 20 * LARGE && !(find(pid)->have & USAGE_PACKETS));
        check((sample.have & SAMPLE_BURSTS) == 0);
        end_child(pid);
        close_all();
}

int main(int argc, char **argv)
{
        const char *collector;

        if (argc == 2 && strcmp(argv[1], "send-on") == 0) {
                send_some(7, SMALL);
                raise(SIGSTOP);
                return 0;
        }
        collector = begin(argc, argv);
        if (!collector)
                return 77;
        sent = mmap(NULL, SENT * sizeof(*sent), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        check(sent != MAP_FAILED);
        test_all(collector, AIR_WIFI);
        test_all(collector, AIR_CELLULAR);
        test_cable(collector);
        if (way == NET_BY_CALLS)
                test_without_packets(collector);
        return end();
}
