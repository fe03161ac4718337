/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A uprobe event of tracefs, as only these can fetch texts; its samples come by a ring for each CPU, as in events.c. */

#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "answer/options.h"
#include "child.h"
#include "probe-event.h"
#include "tracepoints.h"
#include "util/table.h"
#include "util/util.h"
#include "util/words.h"
#include "words.h"

#define RING_PAGES 64
#define LOOK_MS 20
#define EVENT_NAME "probe"

#if defined(__x86_64__)
static const char *const registers[PROBE_ARGUMENTS] = { "di", "si", "dx", "cx", "r8", "r9" };
#elif defined(__aarch64__)
static const char *const registers[PROBE_ARGUMENTS] = { "x0", "x1", "x2", "x3", "x4", "x5" };
#else
static const char *const registers[PROBE_ARGUMENTS] = { NULL };
#endif

struct probe {
        int tracefs, signal_fd, n_cpus;
        uint64_t id;
        struct tracepoint_place number[PROBE_ARGUMENTS], text[PROBE_ARGUMENTS];
        int *fds;
        struct perf_event_mmap_page **rings;
        struct child child;
        sigset_t before;
        struct probed *probed;
};

static void close_probe(struct probe *probe)
{
        size_t page = (size_t)sysconf(_SC_PAGESIZE);

        child_end(&probe->child);
        for (int i = 0; i < probe->n_cpus; i++) {
                if (probe->rings && probe->rings[i])
                        munmap(probe->rings[i], (RING_PAGES + 1) * page);
                if (probe->fds)
                        closep(&probe->fds[i]);
        }
        free(probe->rings);
        free(probe->fds);
        if (probe->tracefs >= 0)
                probe_event_remove(probe->tracefs, EVENT_NAME);
        closep(&probe->tracefs);
        closep(&probe->signal_fd);
        sigprocmask(SIG_SETMASK, &probe->before, NULL);
        probe_free(probe->probed);
}

/* The event must go before we do. */
static int hold_signals(struct probe *probe)
{
        sigset_t signals;

        sigemptyset(&signals);
        sigaddset(&signals, SIGINT);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGHUP);
        if (sigprocmask(SIG_BLOCK, &signals, &probe->before) < 0)
                return -errno;
        probe->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
        return probe->signal_fd < 0 ? -errno : 0;
}

static int find_event(struct probe *probe)
{
        char text[PROBE_EVENT_FORMAT_SIZE], field[8];
        int err = probe_event_format(probe->tracefs, EVENT_NAME, &probe->id, text);

        if (err)
                return err;
        for (int i = 0; i < PROBE_ARGUMENTS; i++) {
                snprintf(field, sizeof(field), "a%d", i);
                if (tracepoints_field(text, field, &probe->number[i]) < 0)
                        return -ENOENT;
                snprintf(field, sizeof(field), "s%d", i);
                if (tracepoints_field(text, field, &probe->text[i]) < 0)
                        return -ENOENT;
        }
        return 0;
}

static int define_event(struct probe *probe, const char *path, uint64_t offset)
{
        char fields[512];
        int n = 0, err;

        if (!registers[0])
                return -ENOSYS;
        probe->tracefs = tracepoints_open();
        if (probe->tracefs < 0)
                return probe->tracefs;
        for (int i = 0; i < PROBE_ARGUMENTS && n < (int)sizeof(fields); i++)
                n += snprintf(fields + n, sizeof(fields) - (size_t)n, " a%d=%%%s:x64 s%d=+0(%%%s):ustring", i,
                              registers[i], i, registers[i]);
        if (n >= (int)sizeof(fields))
                return -ENAMETOOLONG;
        err = probe_event_add(probe->tracefs, EVENT_NAME, false, path, offset, fields);
        return err ? err : find_event(probe);
}

static int open_rings(struct probe *probe)
{
        size_t page = (size_t)sysconf(_SC_PAGESIZE);

        probe->n_cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
        probe->fds = calloc((size_t)probe->n_cpus, sizeof(*probe->fds));
        probe->rings = calloc((size_t)probe->n_cpus, sizeof(*probe->rings));
        if (!probe->fds || !probe->rings) {
                probe->n_cpus = 0;
                return -ENOMEM;
        }
        for (int i = 0; i < probe->n_cpus; i++)
                probe->fds[i] = -1;
        for (int i = 0; i < probe->n_cpus; i++) {
                struct perf_event_attr attr = {
                        .size = sizeof(attr), .type = PERF_TYPE_TRACEPOINT, .config = probe->id, .sample_period = 1,
                        .sample_type = PERF_SAMPLE_RAW, .disabled = 1, .inherit = 1, .enable_on_exec = 1,
                };
                void *at;

                probe->fds[i] = (int)syscall(SYS_perf_event_open, &attr, probe->child.pid, i, -1, PERF_FLAG_FD_CLOEXEC);
                if (probe->fds[i] < 0 && errno == ENODEV) /* offline */
                        continue;
                if (probe->fds[i] < 0)
                        return -errno;
                at = mmap(NULL, (RING_PAGES + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, probe->fds[i], 0);
                if (at == MAP_FAILED)
                        return -errno;
                probe->rings[i] = at;
        }
        return 0;
}

/* Counts the calls of a function with each value of each argument. */

#define PROBE_TEXT_SIZE 64
#define PROBE_VALUES_MAX 4096 /* most different values of an argument; further ones are counted together */

#define SHOWN_MAX 3     /* most values of an argument that are printed */
#define ALIKE 0.05      /* share of calls that may differ by chance */
#define POINTER_MIN 0x10000
#define POINTER_END 0x1000000000000ULL

struct probed {
        struct words *values[PROBE_ARGUMENTS];
        uint64_t counts[PROBE_ARGUMENTS][PROBE_VALUES_MAX + 1]; /* calls with each value */
        uint64_t calls;
};

/* NULL: no memory */
static struct probed *probe_values_new(void)
{
        struct probed *probed = calloc(1, sizeof(*probed));

        for (int i = 0; probed && i < PROBE_ARGUMENTS; i++) {
                probed->values[i] = words_new();
                if (!probed->values[i]) {
                        probe_free(probed);
                        return NULL;
                }
        }
        return probed;
}

void probe_free(struct probed *probed)
{
        for (int i = 0; probed && i < PROBE_ARGUMENTS; i++)
                words_free(probed->values[i]);
        free(probed);
}

/* Is it printable to its end? Bytes behind a pointer to numbers or code are not. */
static bool is_text(const char *text)
{
        for (const char *at = text; *at; at++)
                if ((*at < ' ' && *at != '\n' && *at != '\t') || *at > '~') /* where char has no sign, too */
                        return false;
        return *text != '\0';
}

/* Writes a value for people to @buf, and returns that: a text in quotes, a number, or the kind of value. */
static const char *probe_values_name(uint64_t value, const char *text, char *buf, size_t size)
{
        char printable[2 * PROBE_TEXT_SIZE];

        if (is_text(text))
                snprintf(buf, size, "\"%s\"", util_printable(text, printable, sizeof(printable)));
        else if (value <= INT32_MAX || value > (uint64_t)-INT32_MAX)
                snprintf(buf, size, "%lld", (long long)value);
        else if (value <= UINT32_MAX) /* an int below 0 in half of a register */
                snprintf(buf, size, "%d", (int)(uint32_t)value);
        else if (value >= POINTER_MIN && value < POINTER_END)
                snprintf(buf, size, "%s", _("a pointer"));
        else
                snprintf(buf, size, "%s", _("a large number"));
        return buf;
}

/* @text: the text that the argument points to; empty: none. 0; -ENOMEM. */
static int probe_values_add(struct probed *probed, int argument, uint64_t value, const char *text)
{
        char name[2 * PROBE_TEXT_SIZE + 8];
        int64_t number;

        probe_values_name(value, text, name, sizeof(name));
        if (words_count(probed->values[argument]) >= PROBE_VALUES_MAX &&
            words_look_up(probed->values[argument], name, strlen(name)) < 0)
                snprintf(name, sizeof(name), "%s", _("others"));
        number = words_number(probed->values[argument], name, strlen(name));
        if (number < 0)
                return -ENOMEM;
        probed->counts[argument][number]++;
        return 0;
}

/* to be called when all arguments of a call were added */
static void probe_values_end(struct probed *probed)
{
        probed->calls++;
}

static uint64_t probe_values_calls(const struct probed *probed)
{
        return probed->calls;
}

static double share(const struct probed *probed, int argument, const char *value)
{
        int64_t number = probed ? words_look_up(probed->values[argument], value, strlen(value)) : -ENOENT;

        return number < 0 || probed->calls == 0 ? 0 : (double)probed->counts[argument][number] / (double)probed->calls;
}

struct row {
        const char *value;
        double a, b;
};

static int compare_rows(const void *first, const void *second)
{
        const struct row *x = first, *y = second;
        double of_x = fmax(x->a, x->b), of_y = fmax(y->a, y->b);

        return of_x != of_y ? (of_x < of_y ? 1 : -1) : strcmp(x->value, y->value);
}

/* Values of an argument of both, the most frequent first. */
static struct row *list_rows(const struct probed *a, const struct probed *b, int argument, size_t *n)
{
        const struct probed *sides[] = { a, b };
        struct row *rows = calloc(2 * PROBE_VALUES_MAX + 3, sizeof(*rows));

        *n = 0;
        for (size_t i = 0; rows && i < ARRAY_SIZE(sides) && sides[i]; i++)
                for (uint32_t j = 0; j < words_count(sides[i]->values[argument]); j++) {
                        const char *value = words_bytes(sides[i]->values[argument], j, NULL);

                        if (i == 0 || share(a, argument, value) == 0)
                                rows[(*n)++] = (struct row){ value, share(a, argument, value),
                                                             share(b, argument, value) };
                }
        if (rows)
                qsort(rows, *n, sizeof(*rows), compare_rows);
        return rows;
}

/* Share of calls whose argument is another one: 0 alike, 1 nothing in common. */
static double distance(const struct row *rows, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += fabs(rows[i].a - rows[i].b) / 2;
        return sum;
}

static void add_row(struct table *table, int argument, const struct row *row, bool both)
{
        table_row(table, TABLE_PLAIN);
        table_cell(table, "%d", argument + 1);
        table_cell(table, "%s", row->value);
        table_cell(table, "%.0f %%", 100 * row->a);
        if (both)
                table_cell(table, "%.0f %%", 100 * row->b);
}

void probe_print(const char *function, const struct probed *a, const struct probed *b)
{
        _cleanup_(table_freep) struct table *table = table_new(b ? "rlrr" : "rlr");
        char name[256];
        int shown = 0;

        util_printable(function, name, sizeof(name));
        if (b)
                table_text(TABLE_HEAD, words_counted("%s: %llu call in A and %llu in B were looked at.",
                                                     "%s: %llu calls in A and %llu in B were looked at.", a->calls),
                           name, (unsigned long long)a->calls, (unsigned long long)b->calls);
        else
                table_text(TABLE_HEAD, words_counted("%s: %llu call was looked at.", "%s: %llu calls were looked at.",
                                                     a->calls), name, (unsigned long long)a->calls);
        table_heads(table, N_("Argument"), N_("Value"), b ? "A" : N_("Calls"), b ? "B" : NULL, NULL);
        for (int i = 0; i < PROBE_ARGUMENTS; i++) {
                _cleanup_free_ struct row *rows = NULL;
                size_t n;

                rows = list_rows(a, b, i, &n);
                if (!rows || (b && distance(rows, n) <= ALIKE))
                        continue;
                for (size_t j = 0; j < n && j < SHOWN_MAX; j++)
                        add_row(table, i, &rows[j], b != NULL);
                shown++;
        }
        if (shown > 0) {
                putchar('\n');
                table_print(table);
                putchar('\n');
        } else if (b && a->calls > 0 && b->calls > 0) {
                table_text(TABLE_PLAIN, "Their arguments are alike.");
        }
        table_note("The kernel shows what is in the registers of the first six integers and pointers; a "
                   "function that takes fewer leaves in the others what was there.");
}

static int take_sample(struct probe *probe, const char *record, size_t size)
{
        uint32_t length;
        const char *raw = record + sizeof(length);
        char text[PROBE_TEXT_SIZE];
        int err = 0;

        if (size < sizeof(length))
                return 0;
        memcpy(&length, record, sizeof(length));
        if (length > size - sizeof(length))
                return 0;
        for (int i = 0; err == 0 && i < PROBE_ARGUMENTS; i++) {
                probe_event_text(&probe->text[i], raw, length, text, sizeof(text));
                err = probe_values_add(probe->probed, i, tracepoints_number(&probe->number[i], raw, length), text);
        }
        if (err == 0)
                probe_values_end(probe->probed);
        return err;
}

static int drain(struct probe *probe, struct perf_event_mmap_page *ring)
{
        char *data = (char *)ring + sysconf(_SC_PAGESIZE), record[65536];
        uint64_t size = RING_PAGES * (uint64_t)sysconf(_SC_PAGESIZE), head, tail = ring->data_tail;
        atomic_u64 *produced = (atomic_u64 *)&ring->data_head, *consumed = (atomic_u64 *)&ring->data_tail;
        struct perf_event_header header;
        int err = 0;

        head = __atomic_load_n(produced, __ATOMIC_ACQUIRE);
        while (err == 0 && tail + sizeof(header) <= head && probe_values_calls(probe->probed) < PROBE_CALLS_MAX) {
                memcpy(&header, data + tail % size, sizeof(header)); /* records are of 8 bytes, as is the ring */
                if (header.size < sizeof(header))
                        break;
                for (size_t i = 0; i < header.size; i += 8)
                        memcpy(record + i, data + (tail + i) % size, 8);
                if (header.type == PERF_RECORD_SAMPLE)
                        err = take_sample(probe, record + sizeof(header), header.size - sizeof(header));
                tail += header.size;
        }
        __atomic_store_n(consumed, head, __ATOMIC_RELEASE);
        return err;
}

static int drain_all(struct probe *probe)
{
        int err = 0;

        for (int i = 0; err == 0 && i < probe->n_cpus; i++)
                if (probe->rings[i])
                        err = drain(probe, probe->rings[i]);
        for (int i = 0; i < probe->n_cpus && probe_values_calls(probe->probed) >= PROBE_CALLS_MAX; i++)
                if (probe->fds[i] >= 0)
                        ioctl(probe->fds[i], PERF_EVENT_IOC_DISABLE, 0);
        return err;
}

static int follow(struct probe *probe)
{
        struct pollfd fds[2] = { { .fd = probe->child.pid_fd, .events = POLLIN },
                                 { .fd = probe->signal_fd, .events = POLLIN } };
        struct child_result result;
        int err = 0;

        while (err == 0 && !fds[0].revents) {
                if (poll(fds, ARRAY_SIZE(fds), LOOK_MS) < 0 && errno != EINTR)
                        return -errno;
                err = fds[1].revents ? -EINTR : drain_all(probe);
        }
        if (err == 0)
                err = child_wait(&probe->child, &result);
        return err ? err : drain_all(probe);
}

static int say(int err, const char *path)
{
        char name[256];

        util_printable(path, name, sizeof(name));
        if (err == -EACCES || err == -EPERM)
                log_error(&program_log, "arguments of calls can only be seen by root");
        else if (err == -EINTR)
                log_error(&program_log, "stopped");
        else if (err == -ENOENT || err == -ENOSYS)
                log_error(&program_log, "arguments of calls cannot be seen: this kernel has no uprobe "
                                        "events, or none for this CPU");
        else if (err == -EINVAL)
                log_error(&program_log, "the kernel takes no probe in %s", name);
        else
                log_error(&program_log, "arguments of calls cannot be seen: %s", util_reason(err));
        return err;
}

int probe_run(char *const argv[], const char *path, uint64_t offset, struct probed **ret)
{
        _cleanup_(close_probe) struct probe probe = {
                .tracefs = -1,
                .signal_fd = -1,
                .child = { .pid = -1, .go_fd = -1, .failed_fd = -1, .pid_fd = -1 }
        };
        struct child_place place = CHILD_NOWHERE;
        int err = hold_signals(&probe);

        probe.probed = probe_values_new();
        if (!probe.probed)
                return say(-ENOMEM, path);
        if (err == 0)
                err = define_event(&probe, path, offset);
        if (err == 0)
                err = child_start(argv, &place, &probe.child);
        if (err == 0)
                err = open_rings(&probe);
        if (err == 0)
                err = child_go(&probe.child);
        if (err == 0)
                err = follow(&probe);
        if (err < 0)
                return say(err, path);
        *ret = TAKE_PTR(probe.probed);
        return 0;
}
