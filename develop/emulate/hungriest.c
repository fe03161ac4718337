/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hungriest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

#define SEGMENT 5      /* least number of parts of the series in a segment */
#define LOOKS 2        /* least number of CPU records in a segment, as it is not known who ran when between two */
#define HUNGRIEST 3
#define SHOWN 3        /* most processes, and most peers, that are named for a segment */
#define LEAST_PART 0.01 /* a process is named if it took at least this part of a segment's CPU time */

/* The part of a segment that belongs to a process (seconds of CPU time) or to a peer (bytes). */
struct share {
        char name[RECORD_NAME_MAX + 16];
        double amount;
        size_t packets;
};

struct segment {
        double joules[COMPONENT_COUNT], from_s, to_s;
        bool told;
};

struct shares {
        struct share *list;
        size_t n, capacity;
};

static double watts_of(const struct segment *segment)
{
        double sum = 0;

        for (int c = 0; c < COMPONENT_COUNT; c++)
                sum += segment->joules[c];
        return sum / (segment->to_s - segment->from_s);
}

static int dearest(const double *parts)
{
        int best = 0;

        for (int c = 1; c < COMPONENT_COUNT; c++)
                best = parts[c] > parts[best] ? c : best;
        return best;
}

static int add(struct shares *shares, const char *name, double amount)
{
        size_t i = 0;

        while (i < shares->n && strcmp(shares->list[i].name, name) != 0)
                i++;
        if (i == shares->n) {
                if (util_grow(&shares->list, &shares->capacity, i + 1, sizeof(*shares->list)) < 0)
                        return -ENOMEM;
                shares->list[shares->n++] = (struct share){ .amount = 0 };
                snprintf(shares->list[i].name, sizeof(shares->list[i].name), "%s", name);
        }
        shares->list[i].amount += amount;
        shares->list[i].packets++;
        return 0;
}

static int compare(const void *a, const void *b)
{
        double left = ((const struct share *)a)->amount, right = ((const struct share *)b)->amount;

        return left > right ? -1 : left < right;
}

/* CPU time of the whole app from one time to another, on this machine. */
static double cpu_s(const struct run *run, int64_t from_ns, int64_t to_ns)
{
        struct cpu_record before = { 0, 0 };
        double sum = 0;

        for (size_t i = 0; i < run->n_cpu; i++) {
                const struct cpu_record *record = &run->cpu[i];
                int64_t start_ns = MAX(before.time_ns, from_ns), end_ns = MIN(record->time_ns, to_ns);

                if (end_ns > start_ns)
                        sum += (double)(record->cpu_ns - before.cpu_ns) * (double)(end_ns - start_ns) /
                               (double)(record->time_ns - before.time_ns);
                before = *record;
        }
        return sum / NS_PER_S;
}

static int print_processes(const struct condition *condition, const struct run *run, int64_t from_ns, int64_t to_ns)
{
        struct shares shares = { 0 };
        double all_s = cpu_s(run, from_ns, to_ns), rest_s = all_s;
        char name[4 * RECORD_TASK_MAX];
        size_t look = 0;
        int err = 0;

        /* A record covers the time since the CPU record before it, of which only a part may be in the segment. */
        for (size_t i = 0; !err && i < run->n_tasks; i++) {
                const struct task_record *task = &run->tasks[i];
                int64_t since_ns, common_ns;

                while (look < run->n_cpu && run->cpu[look].time_ns < task->time_ns)
                        look++;
                since_ns = look ? run->cpu[look - 1].time_ns : 0;
                common_ns = MIN(task->time_ns, to_ns) - MAX(since_ns, from_ns);
                util_printable(task->name, name, sizeof(name));
                if (strspn(name, " ?") == strlen(name))
                        snprintf(name, sizeof(name), "%s", _("(no name)"));
                if (common_ns > 0)
                        err = add(&shares, name,
                                  (double)task->cpu_ns / NS_PER_S * (double)common_ns /
                                          (double)(task->time_ns - since_ns));
        }
        if (shares.n)
                qsort(shares.list, shares.n, sizeof(*shares.list), compare);
        if (!err && all_s > 0) {
                printf("    %s: ", _("CPU time there"));
                for (size_t i = 0;
                     i < MIN(shares.n, (size_t)SHOWN) && shares.list[i].amount >= LEAST_PART * all_s; i++) {
                        printf("%s %.2f s, ", shares.list[i].name, shares.list[i].amount * condition->factor.value);
                        rest_s -= shares.list[i].amount;
                }
                printf("%s %.2f s\n", _("others"), fmax(0, rest_s) * condition->factor.value);
        }
        free(shares.list);
        return err;
}

/* Peer of a packet, as in "example.org:443"; with its address where no DNS answer named it. */
static void name_peer(const struct run *run, const struct packet_record *packet, char *ret, size_t size)
{
        struct in_addr address = { .s_addr = htonl(packet->peer) };
        char text[INET_ADDRSTRLEN] = "?";
        const char *name = inet_ntop(AF_INET, &address, text, sizeof(text));

        for (size_t i = run->n_names; i > 0; i--)
                if (run->names[i - 1].address == packet->peer) {
                        name = run->names[i - 1].name;
                        break;
                }
        if (packet->protocol == IPPROTO_TCP)
                snprintf(ret, size, "%s:%u", name, packet->port);
        else if (packet->protocol == IPPROTO_UDP)
                snprintf(ret, size, "%s:%u/udp", name, packet->port);
        else
                snprintf(ret, size, "%s", name ? name : "?");
}

static int print_peers(const struct run *run, int64_t from_ns, int64_t to_ns)
{
        struct shares shares = { 0 };
        char name[RECORD_NAME_MAX + 16];
        int err = 0;

        for (size_t i = 0; !err && i < run->n_packets; i++) {
                const struct packet_record *packet = &run->packets[i];
                struct radio_event event; /* the radio may send it long after it came to a busy link */

                if (!record_event(packet, &event) || event.time_ns < from_ns || event.time_ns >= to_ns)
                        continue;
                name_peer(run, packet, name, sizeof(name));
                err = add(&shares, name, packet->bytes);
        }
        if (shares.n)
                qsort(shares.list, shares.n, sizeof(*shares.list), compare);
        for (size_t i = 0; !err && i < MIN(shares.n, (size_t)SHOWN); i++) {
                printf("    ");
                printf(words_counted("%s: %.1f kB in %zu packet", "%s: %.1f kB in %zu packets",
                                     shares.list[i].packets),
                       shares.list[i].name, shares.list[i].amount / 1e3, shares.list[i].packets);
                putchar('\n');
        }
        free(shares.list);
        return err;
}

static int print_segment(const struct condition *condition, const struct run *run, const struct segment *segment)
{
        int64_t from_ns = (int64_t)(segment->from_s * 1e9), to_ns = (int64_t)(segment->to_s * 1e9);
        int c = dearest(segment->joules), err;

        printf("  ");
        printf(_("%.3g to %.3g s: %.0f mW, of which %s %.0f mW"), segment->from_s, segment->to_s,
               watts_of(segment) * 1e3, _(component_names[c]),
               segment->joules[c] / (segment->to_s - segment->from_s) * 1e3);
        putchar('\n');
        err = print_processes(condition, run, from_ns, to_ns);
        return err ? err : print_peers(run, from_ns, to_ns);
}

int hungriest_print(const struct condition *condition, const struct run *run,
                    const double (*series)[COMPONENT_COUNT], size_t n, double part_s)
{
        size_t looks = MAX(run->n_cpu / LOOKS, (size_t)1), parts = MAX((size_t)SEGMENT, (n + looks - 1) / looks);
        size_t n_segments = (n + parts - 1) / parts;
        _cleanup_free_ struct segment *segments = calloc(n_segments + 1, sizeof(*segments));
        int err = segments ? 0 : -ENOMEM;

        for (size_t i = 0; !err && i < n; i++) {
                struct segment *segment = &segments[i / parts];

                segment->from_s = (double)(i / parts * parts) * part_s;
                segment->to_s = (double)(i + 1) * part_s;
                for (int c = 0; c < COMPONENT_COUNT; c++)
                        segment->joules[c] += series[i][c];
        }
        if (!err)
                printf("%s\n", _("The hungriest parts:"));
        for (size_t k = 0; !err && k < MIN((size_t)HUNGRIEST, n_segments); k++) {
                size_t best = n_segments;

                for (size_t i = 0; i < n_segments; i++)
                        if (!segments[i].told &&
                            (best == n_segments || watts_of(&segments[i]) > watts_of(&segments[best])))
                                best = i;
                segments[best].told = true;
                err = print_segment(condition, run, &segments[best]);
        }
        return err;
}
