/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Work of known size for apps of the virtual phone. Prints what it did as a line of JSON.
 *
 * Usage: work spin SECONDS [PERCENT [CPU]]       busy for PERCENT of each 100 ms
 *        work write|read FILE MB_PER_S SECONDS   O_DIRECT, 64 KiB at a time
 *        work send|receive HOST PORT BYTES [MB_PER_S]  TCP, all of it
 *        work datagrams HOST PORT COUNT SIZE     UDP
 *        work ring N ROUNDS                      a byte goes round N processes on one CPU: a switch a step
 */

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BLOCK (64 << 10)
#define NS 1000000000ull

static _Alignas(4096) char block[BLOCK];

static _Noreturn void die(const char *what)
{
        fprintf(stderr, "work: %s: %s\n", what, strerror(errno));
        exit(1);
}

static uint64_t clock_ns(clockid_t clock)
{
        struct timespec now;

        clock_gettime(clock, &now);
        return (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
}

static int told(uint64_t bytes, uint64_t began_ns)
{
        printf("{\"bytes\": %llu, \"cpu_s\": %.6f, \"wall_s\": %.6f}\n", (unsigned long long)bytes,
               (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9,
               (double)(clock_ns(CLOCK_MONOTONIC) - began_ns) / 1e9);
        return 0;
}

static void sleep_until(uint64_t until_ns)
{
        struct timespec until = { .tv_sec = (time_t)(until_ns / NS), .tv_nsec = (long)(until_ns % NS) };

        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
                ;
}

static void spin_until(uint64_t until_ns)
{
        volatile unsigned x = 1;

        while (clock_ns(CLOCK_MONOTONIC) < until_ns)
                for (int i = 0; i < 1000; i++)
                        x = x * 1664525u + 1013904223u;
}

static void pin(const char *cpu)
{
        cpu_set_t set;

        CPU_ZERO(&set);
        CPU_SET((size_t)strtoul(cpu, NULL, 10), &set);
        if (sched_setaffinity(0, sizeof(set), &set) < 0)
                die("pin");
}

static int spin(int argc, char **argv)
{
        double seconds = strtod(argv[2], NULL);
        double percent = argc > 3 ? strtod(argv[3], NULL) : 100;
        uint64_t began = clock_ns(CLOCK_MONOTONIC);
        uint64_t end = began + (uint64_t)(seconds * 1e9), slice = NS / 10;

        if (argc > 4)
                pin(argv[4]);
        for (uint64_t at = began; at < end; at += slice) {
                spin_until(at + (uint64_t)((double)slice * percent / 100));
                if (percent < 100)
                        sleep_until(at + slice);
        }
        return told(0, began);
}

static int transfer(char **argv, int writes)
{
        double bytes_per_s = strtod(argv[3], NULL) * 1e6, seconds = strtod(argv[4], NULL);
        uint64_t began = clock_ns(CLOCK_MONOTONIC), bytes = 0;
        int fd = open(argv[2], (writes ? O_RDWR | O_CREAT : O_RDONLY) | O_DIRECT | O_CLOEXEC, 0600);

        if (fd < 0)
                die(argv[2]);
        memset(block, 0xa5, BLOCK);
        while ((double)bytes < bytes_per_s * seconds) {
                off_t at = (off_t)(bytes % (16 << 20));
                ssize_t n = writes ? pwrite(fd, block, BLOCK, at) : pread(fd, block, BLOCK, at);

                if (n != BLOCK)
                        die(argv[2]);
                bytes += BLOCK;
                sleep_until(began + (uint64_t)((double)bytes / bytes_per_s * 1e9));
        }
        return told(bytes, began);
}

static int connected(const char *host, const char *port, int type)
{
        struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = type }, *found;
        int fd;

        if (getaddrinfo(host, port, &hints, &found)) {
                fprintf(stderr, "work: %s:%s is no address\n", host, port);
                exit(1);
        }
        fd = socket(found->ai_family, type | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) < 0)
                die(host);
        freeaddrinfo(found);
        return fd;
}

static int stream(int argc, char **argv, int sends)
{
        uint64_t began = clock_ns(CLOCK_MONOTONIC), left = strtoull(argv[4], NULL, 10), bytes = 0;
        double bytes_per_s = argc > 5 ? strtod(argv[5], NULL) * 1e6 : 0;
        int fd = connected(argv[2], argv[3], SOCK_STREAM);

        while (left > 0) {
                size_t size = left < BLOCK ? (size_t)left : BLOCK;
                ssize_t n = sends ? send(fd, block, size, 0) : recv(fd, block, size, 0);

                if (n <= 0)
                        die(sends ? "send" : "receive");
                left -= (uint64_t)n;
                bytes += (uint64_t)n;
                if (bytes_per_s > 0)
                        sleep_until(began + (uint64_t)((double)bytes / bytes_per_s * 1e9));
        }
        shutdown(fd, SHUT_WR);
        if (sends && read(fd, block, 1) < 0) /* all of it has arrived */
                die("the other end");
        return told(bytes, began);
}

static int datagrams(char **argv)
{
        uint64_t began = clock_ns(CLOCK_MONOTONIC);
        unsigned long count = strtoul(argv[4], NULL, 10), size = strtoul(argv[5], NULL, 10);
        int fd = connected(argv[2], argv[3], SOCK_DGRAM);

        for (unsigned long i = 0; i < count; i++)
                if (size > BLOCK || send(fd, block, size, 0) != (ssize_t)size)
                        die("send");
        return told(count * size, began);
}

/* Passes the byte on until it comes no more. */
static void pass(int from, int to)
{
        char byte;

        while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
                ;
}

static int ring(char **argv)
{
        int n = atoi(argv[2]), rounds = atoi(argv[3]), first[2], last, next[2];
        uint64_t began = clock_ns(CLOCK_MONOTONIC);
        char byte = 0;

        pin("0");
        if (pipe2(first, O_CLOEXEC) < 0)
                die("pipe");
        last = first[0];
        for (int i = 1; i < n; i++) {
                if (pipe2(next, O_CLOEXEC) < 0)
                        die("pipe");
                switch (fork()) {
                case -1:
                        die("fork");
                case 0:
                        close(first[1]);
                        close(next[0]);
                        pass(last, next[1]);
                        _exit(0);
                default:
                        close(last);
                        close(next[1]);
                        last = next[0];
                }
        }
        for (int i = 0; i < rounds; i++)
                if (write(first[1], &byte, 1) != 1 || read(last, &byte, 1) != 1)
                        die("ring");
        return told((uint64_t)n * (uint64_t)rounds, began);
}

static int work(int argc, char **argv)
{
        const char *what = argc > 1 ? argv[1] : "";

        if (!strcmp(what, "spin") && argc >= 3)
                return spin(argc, argv);
        if ((!strcmp(what, "write") || !strcmp(what, "read")) && argc == 5)
                return transfer(argv, what[0] == 'w');
        if ((!strcmp(what, "send") || !strcmp(what, "receive")) && argc >= 5)
                return stream(argc, argv, what[0] == 's');
        if (!strcmp(what, "datagrams") && argc == 6)
                return datagrams(argv);
        if (!strcmp(what, "ring") && argc == 4)
                return ring(argv);
        fprintf(stderr, "usage: work spin|write|read|send|receive|datagrams|ring ...\n");
        return 2;
}

/* "linger SECONDS ..." stays for so long after its work, like programs that wait for the next request. */
int main(int argc, char **argv)
{
        int code;

        if (argc < 3 || strcmp(argv[1], "linger"))
                return work(argc, argv);
        code = work(argc - 2, argv + 2);
        sleep((unsigned)atoi(argv[2]));
        return code;
}
