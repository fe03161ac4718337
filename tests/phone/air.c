/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * The far end of the virtual phone's radio, in the access point's own network, mount and process namespaces:
 * tells the physics on the host who is associated and what crossed the air, on a virtio port that nothing
 * else in the phone reads. One JSON line when something changed, at most one in each period. "at" is the
 * phone's boottime in seconds; rx and tx are bytes and packets as the phone would call them. Descriptor 9 is
 * the operstate of the phone's interface.
 *
 * Usage: air PORT INTERFACE PERIOD_MS
 */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STATE_FD 9

struct air {
        bool associated;
        uint64_t rx_bytes, tx_bytes, rx_packets, tx_packets;
};

static uint64_t read_counter(const char *interface, const char *name)
{
        char path[160];
        unsigned long long value = 0;
        FILE *file;

        snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/%s", interface, name);
        file = fopen(path, "re");
        if (!file || fscanf(file, "%llu", &value) != 1) {
                fprintf(stderr, "air: %s: %s\n", path, strerror(errno));
                exit(1);
        }
        fclose(file);
        return value;
}

/*
 * The phone's own interface, as its kernel has it:
 * a file of sysfs that was opened outside of these namespaces.
 */
static bool is_associated(void)
{
        char state[16] = "";

        return pread(STATE_FD, state, sizeof(state) - 1, 0) > 0 && !strcmp(state, "up\n");
}

/* The phone receives the bytes that the access point sends, and the reverse. */
static struct air air_read(const char *interface)
{
        return (struct air){
                .associated = is_associated(),
                .rx_bytes = read_counter(interface, "tx_bytes"),
                .tx_bytes = read_counter(interface, "rx_bytes"),
                .rx_packets = read_counter(interface, "tx_packets"),
                .tx_packets = read_counter(interface, "rx_packets"),
        };
}

static bool is_same(const struct air *a, const struct air *b)
{
        return a->associated == b->associated && a->rx_bytes == b->rx_bytes && a->tx_bytes == b->tx_bytes;
}

static void print(FILE *port, const struct air *air)
{
        struct timespec now;

        clock_gettime(CLOCK_BOOTTIME, &now);
        fprintf(port,
                "{\"at\": %lld.%03ld, \"associated\": %s, \"rx_bytes\": %llu, \"tx_bytes\": %llu, "
                "\"rx_packets\": %llu, \"tx_packets\": %llu}\n",
                (long long)now.tv_sec, now.tv_nsec / 1000000, air->associated ? "true" : "false",
                (unsigned long long)air->rx_bytes, (unsigned long long)air->tx_bytes,
                (unsigned long long)air->rx_packets, (unsigned long long)air->tx_packets);
        fflush(port);
}

int main(int argc, char **argv)
{
        struct air last = { 0 };
        long period_ms;
        FILE *port;

        if (argc != 4) {
                fprintf(stderr, "usage: air PORT INTERFACE PERIOD_MS\n");
                return 2;
        }
        period_ms = strtol(argv[3], NULL, 10);
        port = fopen(argv[1], "we");
        if (!port || period_ms < 10) {
                fprintf(stderr, "air: %s: %s\n", argv[1], strerror(errno));
                return 1;
        }
        for (bool first = true;; first = false) {
                struct timespec pause = { .tv_sec = period_ms / 1000, .tv_nsec = period_ms % 1000 * 1000000 };
                struct air now = air_read(argv[2]);

                if (first || !is_same(&now, &last))
                        print(port, &now);
                last = now;
                nanosleep(&pause, NULL);
        }
}
