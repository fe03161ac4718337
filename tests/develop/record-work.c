/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * For test-record: a thread, a child, a function as of C++ with one inside, code that is mapped twice, waits, packets,
 * and a file of so many MiB, each from a function of its own.
 */

#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static volatile long sink;

__attribute__((noinline)) static void burn(long n)
{
        for (long i = 0; i < n; i++)
                sink = sink + i;
}

/* A part of its caller, of which only debug information tells. */
__attribute__((always_inline)) static inline void burn_inside(long n)
{
        for (long i = 0; i < n; i++)
                sink = sink ^ i;
}

/* As a compiler of C++ names game::World::tick(int). */
void tick(int n) __asm__("_ZN4game5World4tickEi");

__attribute__((noinline)) void tick(int n)
{
        burn_inside(n);
}

/* It runs at another address, so it uses no data. */
__attribute__((noinline)) static uint64_t mix(uint64_t n)
{
        for (uint64_t i = n; i > 0; i--)
                n = n * 2862933555777941757 + 3037000493;
        return n;
}

/* Maps the code of mix() once more, as V8 does with its built-in functions, and runs it there. */
__attribute__((noinline)) static void run_copy(void)
{
        unsigned long code = (unsigned long)mix, page = (unsigned long)sysconf(_SC_PAGESIZE), from, to, offset;
        FILE *maps = fopen("/proc/self/maps", "r");
        int fd = open("/proc/self/exe", O_RDONLY);
        char line[512];

        while (maps && fgets(line, sizeof(line), maps)) {
                if (sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset) != 3 || code < from || code >= to)
                        continue;
                offset += (code - from) / page * page;
                unsigned long copy = (unsigned long)mmap(NULL, 2 * page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
                                                         (off_t)offset);

                if (copy != (unsigned long)MAP_FAILED)
                        sink = (long)((uint64_t(*)(uint64_t))(copy + code % page))(100000000);
        }
        if (maps)
                fclose(maps);
        close(fd);
}

/* Each wait ends in a wake-up. */
__attribute__((noinline)) static void wait_often(void)
{
        for (int i = 0; i < 50; i++)
                usleep(1000);
}

__attribute__((noinline)) static void *in_thread(void *data)
{
        burn(100000000);
        return data;
}

__attribute__((noinline)) static pthread_t start_thread_here(void)
{
        pthread_t thread;

        if (pthread_create(&thread, NULL, in_thread, NULL) != 0)
                abort();
        return thread;
}

__attribute__((noinline)) static void save(const char *path, int mib)
{
        static char block[65536];
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        memset(block, 'x', sizeof(block));
        for (int i = 0; i < mib * 16; i++)
                if (write(fd, block, sizeof(block)) != sizeof(block))
                        abort();
        close(fd);
}

__attribute__((noinline)) static void receive(int fd)
{
        char packet[1000];

        if (recv(fd, packet, sizeof(packet), 0) != sizeof(packet))
                abort();
}

__attribute__((noinline)) static void talk(void)
{
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t length = sizeof(address);
        int from = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), to = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        char packet[1000] = "";

        if (bind(to, (struct sockaddr *)&address, length) < 0 ||
            getsockname(to, (struct sockaddr *)&address, &length) < 0)
                abort();
        for (int i = 0; i < 100; i++) {
                if (sendto(from, packet, sizeof(packet), 0, (struct sockaddr *)&address, length) != sizeof(packet))
                        abort();
                receive(to);
        }
        close(from);
        close(to);
}

__attribute__((noinline)) static int run_child(void)
{
        int status = system("head -c 3000000 /dev/zero | gzip -c >/dev/null; gzip -c /proc/self/exe >/dev/null");

        sink = sink + status; /* after the call, which would else be a jump that leaves no frame of this function */
        return status;
}

int main(int argc, char **argv)
{
        pthread_t thread = start_thread_here();
        int status = run_child();

        run_copy();
        tick(200000000);
        wait_often();
        save(argv[1], atoi(argv[2]));
        talk();
        pthread_join(thread, NULL);
        return status != 0;
}
