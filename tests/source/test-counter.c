/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Sums over devices that come, go, fall back, wrap and change their names; and very many interfaces. */

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "check.h"
#include "source/counter.h"
#include "source/disk.h"
#include "source/net.h"
#include "tree.h"
#include "util/units.h"

#define READINGS 5
#define GB UINT64_C(1000000000)

struct reading {
        const char *name; /* NULL: not in this one */
        uint64_t number;
        uint64_t value[2];
};

struct history {
        const char *what;
        bool from_zero;
        struct reading readings[READINGS][2];
        uint64_t grown[2];
};

static const struct history histories[] = {
        { "grows",
          false,
          { { { "a", 1, { 10, 1 } } }, { { "a", 1, { 20, 3 } } }, { { "a", 1, { 25, 3 } } } },
          { 15, 2 } },
        { "shows 0 once",
          false,
          { { { "a", 1, { 5 * GB, 70 } } }, { { "a", 1, { 0, 0 } } }, { { "a", 1, { 5 * GB + 100, 80 } } } },
          { 100, 10 } },
        { "shows 0 for long",
          false,
          { { { "a", 1, { 5 * GB, 70 } } },
            { { "a", 1, { 0, 0 } } },
            { { "a", 1, { 0, 0 } } },
            { { "a", 1, { 0, 0 } } },
            { { "a", 1, { 5 * GB + 100, 80 } } } },
          { 100, 10 } },
        { "goes back a little and returns",
          false,
          { { { "a", 0, { 5 * GB, 70 } } },
            { { "a", 0, { 5 * GB - 50, 70 } } },
            { { "a", 0, { 5 * GB + 100, 70 } } } },
          { 100, 0 } },
        { "shows another's for a while",
          false,
          { { { "a", 0, { 5 * GB, 7 } } },
            { { "a", 0, { 300, 1 } } },
            { { "a", 0, { 400, 2 } } },
            { { "a", 0, { 5 * GB + 50, 9 } } } },
          { 150, 3 } },
        { "was reset",
          false,
          { { { "a", 1, { 5 * GB, 7 } } },
            { { "a", 1, { 10, 0 } } },
            { { "a", 1, { 40, 2 } } },
            { { "a", 1, { 90, 5 } } } },
          { 80, 5 } },
        { "wraps at 32 bits",
          false,
          { { { "a", 1, { 4294967000, 7 } } }, { { "a", 1, { 704, 8 } } }, { { "a", 1, { 804, 9 } } } },
          { 1100, 2 } },
        { "wraps in the other way",
          false,
          { { { "a", 1, { 7, 4294967000 } } }, { { "a", 1, { 8, 704 } } } },
          { 1, 1000 } },
        { "a wrap far away is a reset",
          false,
          { { { "a", 1, { 3 * GB, 7 } } }, { { "a", 1, { 704, 8 } } } },
          { 0, 1 } },
        { "a reset near the wrap",
          false,
          { { { "a", 1, { 4294967000, 7 } } }, { { "a", 1, { 704, 3 } } } },
          { 0, 0 } },
        { "a reset of one that never sent",
          false,
          { { { "a", 1, { 4294967000, 0 } } }, { { "a", 1, { 704, 0 } } } },
          { 0, 0 } },
        { "more than 32 bits do not wrap",
          false,
          { { { "a", 1, { 8589934500, 7 } } }, { { "a", 1, { 704, 8 } } } },
          { 0, 1 } },
        { "a counter for the disk does not wrap",
          true,
          { { { "a", 1, { 4294967000, 7 } } }, { { "a", 1, { 704, 8 } } } },
          { 0, 1 } },
        { "was away",
          false,
          { { { "a", 1, { 10, 0 } }, { "b", 2, { 3 * GB, 5 } } },
            { { "a", 1, { 20, 0 } } },
            { { "a", 1, { 30, 0 } }, { "b", 2, { 3 * GB + 7, 6 } } } },
          { 27, 1 } },
        { "was away, and moved very much elsewhere",
          false,
          { { { "b", 2, { 3 * GB, 5 } } },
            { { NULL } },
            { { "b", 2, { 9 * GB, 6 } } },
            { { "b", 2, { 9 * GB + 5, 7 } } } },
          { 5, 2 } },
        { "another of its name",
          false,
          { { { "b", 2, { 1000, 5 } } },
            { { NULL } },
            { { "b", 7, { 3 * GB, 6 } } },
            { { "b", 7, { 3 * GB + 5, 7 } } } },
          { 5, 1 } },
        { "another of its name, at once",
          false,
          { { { "b", 2, { 1000, 5 } } }, { { "b", 7, { 3 * GB, 6 } } }, { { "b", 2, { 1003, 6 } } } },
          { 3, 1 } },
        { "its number is not told once",
          false,
          { { { "b", 2, { 1000, 5 } } }, { { "b", 0, { 1005, 6 } } }, { { "b", 7, { 3 * GB, 6 } } } },
          { 5, 1 } },
        { "renamed",
          false,
          { { { "a", 3, { 3 * GB, 5 } } },
            { { "z", 3, { 3 * GB + 9, 6 } } },
            { { "z", 3, { 3 * GB + 10, 6 } } } },
          { 10, 1 } },
        { "renamed, its number unknown",
          false,
          { { { "a", 0, { 3 * GB, 5 } } }, { { "z", 0, { 3 * GB + 9, 6 } } } },
          { 9, 1 } },
        { "one goes as another comes",
          false,
          { { { "a", 3, { 500, 5 } } }, { { "z", 4, { 3 * GB, 6 } } } },
          { 0, 0 } },
        { "two share a number",
          false,
          { { { "a", 3, { 10, 1 } }, { "b", 3, { 20, 1 } } },
            { { "a", 3, { 11, 1 } }, { "b", 3, { 22, 1 } } } },
          { 3, 0 } },
        { "comes later",
          false,
          { { { NULL } }, { { "a", 1, { 500, 50 } } }, { { "a", 1, { 600, 60 } } } },
          { 100, 10 } },
        { "comes later, and began at 0",
          true,
          { { { NULL } }, { { "a", 1, { 500, 50 } } }, { { "a", 1, { 600, 60 } } } },
          { 600, 60 } },
        { "another disk of its name",
          true,
          { { { "a", 1, { 900, 90 } } }, { { NULL } }, { { "a", 2, { 600, 60 } } } },
          { 600, 60 } },
};

static void read_once(struct counters *counters, const struct reading *readings)
{
        for (int i = 0; i < 2; i++) {
                struct counter counter = { .number = readings[i].number, .class = 1,
                                           .value = { readings[i].value[0], readings[i].value[1] } };

                if (!readings[i].name)
                        continue;
                snprintf(counter.name, sizeof(counter.name), "%s", readings[i].name);
                check_int(counter_see(counters, &counter), 0);
        }
        check_int(counter_add_up(counters), 0);
}

static void check_history(const struct history *history)
{
        struct counters counters = { .from_zero = history->from_zero, .wraps = !history->from_zero };
        uint64_t first[2], before[2];

        read_once(&counters, history->readings[0]);
        memcpy(first, counters.total[1], sizeof(first));
        for (int way = 0; way < 2; way++)
                check_int(first[way], history->readings[0][0].value[way] + history->readings[0][1].value[way]);
        for (int i = 1; i < READINGS; i++) {
                if (!history->readings[i][0].name && i + 1 < READINGS && !history->readings[i + 1][0].name)
                        break;
                memcpy(before, counters.total[1], sizeof(before));
                read_once(&counters, history->readings[i]);
                check(counters.total[1][0] >= before[0] && counters.total[1][1] >= before[1]);
        }
        for (int way = 0; way < 2; way++) {
                uint64_t grown = counters.total[1][way] - first[way];

                if (grown != history->grown[way])
                        fprintf(stderr, "%s, way %d: %" PRIu64 "\n", history->what, way, grown);
                check_int(grown, history->grown[way]);
        }
        counter_clear(&counters);
}

/* Interfaces of containers are made and removed all day. */
static void memory_of_those_that_went(void)
{
        struct counters counters = { 0 };

        for (uint64_t i = 0; i < 5000; i++) {
                struct counter counter = { .number = i + 1, .value = { i, i } };

                snprintf(counter.name, sizeof(counter.name), "eth%" PRIu64, i);
                check_int(counter_see(&counters, &counter), 0);
                check_int(counter_add_up(&counters), 0);
        }
        check(counters.known_capacity <= 128);
        counter_clear(&counters);
}

#define MANY 5000

static void very_many_interfaces(void)
{
        char dir[64] = "/tmp/joulecast-net-XXXXXX";
        struct source *source = NULL;
        struct sample sample = { 0 };
        char *text = malloc(MANY * 128);
        size_t length = 0;
        int root_fd;

        check(mkdtemp(dir) && text);
        for (int i = 0; text && i < MANY; i++)
                length += (size_t)sprintf(text + length, "veth%08x: %d 1 0 0 0 0 0 0 %d 1 0 0 0 0 0 0\n", i, 1, 2);
        tree_write(dir, "proc/net/dev", text, length);
        root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(net_open(root_fd, &source), 0);
        check_int(source->ops->read(source, &sample), 0);
        check_int(sample.other_rx_bytes, MANY);
        check_int(sample.other_tx_bytes, 2 * MANY);
        source->ops->close(source);
        close(root_fd);
        free(text);
        tree_remove(dir);
}

static double cpu_s(void)
{
        struct timespec now;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return (double)now.tv_sec + (double)now.tv_nsec / NS_PER_S;
}

#define CONTAINERS 1200

/* One of hardware and those of containers, which are idle; @bytes of the hardware's and of the first container's. */
static void write_containers(const char *dir, unsigned hardware, unsigned container)
{
        char *text = malloc((CONTAINERS + 1) * 128);
        size_t length;

        check(text);
        if (!text)
                return;
        length = (size_t)sprintf(text, "eth0: %u 1 0 0 0 0 0 0 %u 1 0 0 0 0 0 0\n", hardware, hardware);
        for (unsigned i = 0; i < CONTAINERS; i++)
                length += (size_t)sprintf(text + length, "veth%u: %u 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n", i,
                                          i == 0 ? container : i);
        tree_write(dir, "proc/net/dev", text, length);
        free(text);
}

static double read_containers(struct source *source, uint64_t *rx_bytes)
{
        struct sample sample = { 0 };
        double start_s = cpu_s();

        check_int(source->ops->read(source, &sample), 0);
        *rx_bytes = sample.other_rx_bytes;
        return cpu_s() - start_s;
}

/* Idle interfaces are looked at once; those with traffic are looked at again, as a name may be reused. */
static void interfaces_of_containers(void)
{
        char dir[64] = "/tmp/joulecast-net-XXXXXX", path[64];
        double first_s, again_s = INFINITY;
        struct source *source = NULL;
        uint64_t begin, now;
        int root_fd;

        check(mkdtemp(dir));
        tree_write(dir, "sys/class/net/eth0/device/vendor", "1\n", 2);
        for (unsigned i = 0; i < CONTAINERS; i++) {
                snprintf(path, sizeof(path), "sys/class/net/veth%u/mtu", i);
                tree_write(dir, path, "1500\n", 5);
        }
        write_containers(dir, 1000, 100);
        root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        check_int(net_open(root_fd, &source), 0);
        first_s = read_containers(source, &begin);
        for (int i = 0; i < 5; i++)
                again_s = fmin(again_s, read_containers(source, &now));
        check_int(now, begin);
        fprintf(stderr, "%d idle interfaces: %.2f ms, %.2f ms at first\n", CONTAINERS, again_s * 1e3,
                first_s * 1e3);
        check(again_s <= first_s / 2);
        write_containers(dir, 1500, 200); /* a container's bytes are not counted */
        read_containers(source, &now);
        check_int(now, begin + 500);
        tree_write(dir, "sys/class/net/veth0/device/vendor", "1\n", 2); /* a USB adapter took the name */
        write_containers(dir, 1500, 0);
        read_containers(source, &now);
        check_int(now, begin + 500);
        write_containers(dir, 1500, 40);
        read_containers(source, &now);
        check_int(now, begin + 540);
        source->ops->close(source);
        close(root_fd);
        tree_remove(dir);
}

static void paths_of_multipath(void)
{
        static const struct {
                const char *path, *head;
        } cases[] = {
                { "nvme0c0n1", "nvme0n1" }, { "nvme3c12n2", "nvme3n2" }, { "nvme0n1", NULL }, { "nvme0c0n1p1", NULL },
                { "sda", NULL }, { "", NULL },
        };
        char head[64];

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                check_int(disk_head_of(cases[i].path, head, sizeof(head)), cases[i].head != NULL);
                if (cases[i].head)
                        check_text(head, cases[i].head);
        }
}

int main(void)
{
        for (size_t i = 0; i < ARRAY_SIZE(histories); i++)
                check_history(&histories[i]);
        memory_of_those_that_went();
        very_many_interfaces();
        interfaces_of_containers();
        paths_of_multipath();
        return check_result();
}
