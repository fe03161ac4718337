/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A usage as bytes. Every number is a LEB128 varint (seven bits a byte, low
 * ones first, the high bit says that more follow):
 *
 *   flags                           bits 0-4: `have`; bit 5+i: amount i of amounts[] follows; then CPU, screen
 *   amounts                         those that are not 0, in the order of amounts[]
 *   CPU, in full or by the shape of an earlier one (see below)
 *   n, n x (brightness + 1, on_ns)  screen; 0: brightness unknown
 *
 * CPU in full is n * 2 + 1, n x (opp, busy_ns, any_ns); opp is the id in table opp, and any_ns is by how
 * much it differs from busy_ns by the ratio of the point before (1 at first), zigzag. n * 2: any_ns is
 * whole. By shape it is 1, the sum of busy_ns, and then, for each opp of the last CPU that stood in full,
 * by how much busy_ns differs from that one's scaled to this sum (see scale_next()), and any_ns from
 * busy_ns by that one's ratio; as zigzag numbers (0 -1 1 -2 ...), with a run of zeros as 0 and its length.
 * Where the kernel counts no time by frequency, all processes of an interval have the shape of the machine,
 * and little is left to write.
 *
 * Column interval.usage is such usages in a row, each after its (app * 2 + state, process or 0). Process 0 is
 * nobody's, or all of the app's that have no row of their own. App 0 is nobody at all, and its CPU only a
 * shape: where CPU time was shared, the weights by which.
 * Column interval.active is (app * 2 + state, active_ns) in a row: apps that were not alive in the background
 * all of the interval. Those that were are in table alive, each id as the difference to the one before.
 */

#include <errno.h>
#include <string.h>

#include "store-private.h"
#include "util/util.h"

static const size_t amounts[] = {
        offsetof(struct usage, time_ns),        offsetof(struct usage, suspend_ns),
        offsetof(struct usage, read_bytes),     offsetof(struct usage, write_bytes),
        offsetof(struct usage, wifi_on_ns),     offsetof(struct usage, wifi_rx_bytes),
        offsetof(struct usage, wifi_tx_bytes),  offsetof(struct usage, wifi_wakes),
        offsetof(struct usage, other_rx_bytes), offsetof(struct usage, other_tx_bytes),
        offsetof(struct usage, gpu_busy_ns),
};

#define FIRST_AMOUNT 5
#define HAS_CPU (1u << (FIRST_AMOUNT + ARRAY_SIZE(amounts)))
#define HAS_SCREEN (HAS_CPU << 1)
#define MOST_FLAGS (HAS_SCREEN << 1)

static uint64_t *amount_of(struct usage *usage, size_t i)
{
        return (uint64_t *)(void *)((char *)usage + amounts[i]);
}

void bytes_clear(struct bytes *bytes)
{
        free(bytes->data);
        *bytes = (struct bytes){ 0 };
}

int put_number(struct bytes *bytes, uint64_t number)
{
        if (util_grow(&bytes->data, &bytes->capacity, bytes->n + 10, 1) < 0)
                return -ENOMEM;
        for (; number >= 0x80; number >>= 7)
                bytes->data[bytes->n++] = (unsigned char)(number | 0x80);
        bytes->data[bytes->n++] = (unsigned char)number;
        return 0;
}

int get_number(struct reader *reader, uint64_t *ret)
{
        uint64_t number = 0;

        for (unsigned shift = 0; reader->at < reader->end && shift < 64; shift += 7) {
                unsigned char byte = *reader->at++;

                if (shift == 63 && byte > 1)
                        return -EBADMSG;
                number |= (uint64_t)(byte & 0x7f) << shift;
                if (!(byte & 0x80)) {
                        *ret = number;
                        return 0;
                }
        }
        return -EBADMSG;
}

/*
 * @a / @b times 2^62, and no more than fits:
 * what is scaled by it is a guess, the same for writer and reader.
 */
static uint64_t ratio(uint64_t a, uint64_t b)
{
        __extension__ typedef unsigned __int128 wide;
        wide scale = b ? ((wide)a << 62) / b : 0;

        return scale > UINT64_MAX ? UINT64_MAX : (uint64_t)scale;
}

static uint64_t scale(uint64_t value, uint64_t ratio_62)
{
        __extension__ typedef unsigned __int128 wide;

        return (uint64_t)((wide)value * ratio_62 >> 62);
}

/* The part of its time in which some core was busy is much the same at each operating point of a policy. */
static uint64_t any_ratio(const struct cpu_time *cpu)
{
        return ratio(MIN(cpu->any_ns, cpu->busy_ns), cpu->busy_ns);
}

static int take_shape(struct shape *shape, const struct usage *usage)
{
        int err = util_grow(&shape->points, &shape->capacity, usage->n_cpu, sizeof(*shape->points));

        if (err)
                return err;
        shape->n = usage->n_cpu;
        shape->sum_ns = usage_busy_ns(usage);
        for (size_t i = 0; i < shape->n; i++) {
                const struct cpu_time *cpu = &usage->cpu[i];

                shape->points[i] = (struct shape_point){ *cpu, any_ratio(cpu) };
        }
        return 0;
}

/* What busy_ns would be, point by point, had a usage of this sum the shape's proportions. */
struct scaling {
        uint64_t ratio_62;
        uint64_t running_ns, given_ns;
};

static uint64_t scale_next(struct scaling *scaling, const struct shape_point *point)
{
        uint64_t until, part;

        scaling->running_ns += point->cpu.busy_ns;
        until = scale(scaling->running_ns, scaling->ratio_62);
        part = until - scaling->given_ns;
        scaling->given_ns = until;
        return part;
}

/* Zigzag: small differences of either sign are small numbers. */
static uint64_t zigzag(uint64_t value, uint64_t expected)
{
        uint64_t difference = value - expected;

        return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static uint64_t unzigzag(uint64_t number, uint64_t expected)
{
        return expected + (number >> 1 ^ (number & 1 ? UINT64_MAX : 0));
}

static int put_cpu_in_full(struct store *store, struct bytes *bytes, const struct usage *usage)
{
        uint64_t any_62 = UINT64_C(1) << 62;
        int err = put_number(bytes, usage->n_cpu * 2 + 1);

        for (size_t i = 0; !err && i < usage->n_cpu; i++) {
                const struct cpu_time *cpu = &usage->cpu[i];
                int64_t opp;

                err = names_opp(store, cpu->policy, cpu->khz, &opp);
                if (!err)
                        err = put_number(bytes, (uint64_t)opp);
                if (!err)
                        err = put_number(bytes, cpu->busy_ns);
                if (!err)
                        err = put_number(bytes, zigzag(cpu->any_ns, scale(cpu->busy_ns, any_62)));
                any_62 = any_ratio(cpu);
        }
        return err;
}

/* Runs of zeros are counted. @zeros is what is pending; a @number of 0 only counts. */
static int put_difference(struct bytes *bytes, uint64_t number, uint64_t *zeros)
{
        int err = 0;

        if (number == 0) {
                (*zeros)++;
                return 0;
        }
        if (*zeros > 0) {
                err = put_number(bytes, 0);
                if (!err)
                        err = put_number(bytes, *zeros);
                *zeros = 0;
        }
        return err ? err : put_number(bytes, number);
}

static int put_cpu_by_shape(struct bytes *bytes, const struct usage *usage, const struct shape *shape)
{
        uint64_t sum_ns = usage_busy_ns(usage), zeros = 0;
        struct scaling scaling = { .ratio_62 = ratio(sum_ns, shape->sum_ns) };
        size_t own = 0;
        int err = put_number(bytes, 1);

        if (!err)
                err = put_number(bytes, sum_ns);
        for (size_t i = 0; !err && i < shape->n; i++) {
                const struct shape_point *point = &shape->points[i];
                uint64_t busy_ns = 0, any_ns = 0;

                if (own < usage->n_cpu && usage->cpu[own].policy == point->cpu.policy &&
                    usage->cpu[own].khz == point->cpu.khz) {
                        busy_ns = usage->cpu[own].busy_ns;
                        any_ns = usage->cpu[own++].any_ns;
                }
                err = put_difference(bytes, zigzag(busy_ns, scale_next(&scaling, point)), &zeros);
                if (!err)
                        err = put_difference(bytes, zigzag(any_ns, scale(busy_ns, point->any_scale)), &zeros);
        }
        if (!err && zeros > 0) {
                err = put_number(bytes, 0);
                if (!err)
                        err = put_number(bytes, zeros);
        }
        return err;
}

/* Every point of @usage is one of @shape's; both ascend. */
static bool fits_shape(const struct usage *usage, const struct shape *shape)
{
        size_t own = 0;

        if (shape->n < 2 || shape->sum_ns == 0)
                return false;
        for (size_t i = 0; i < shape->n && own < usage->n_cpu; i++)
                own += usage->cpu[own].policy == shape->points[i].cpu.policy &&
                       usage->cpu[own].khz == shape->points[i].cpu.khz;
        return own == usage->n_cpu;
}

/* By shape where that is short: in full an entry has a dozen bytes, and seldom less than four. */
static int put_cpu(struct store *store, struct bytes *bytes, const struct usage *usage, bool shaped)
{
        size_t start = bytes->n;
        int err;

        if (shaped && fits_shape(usage, &store->shape)) {
                err = put_cpu_by_shape(bytes, usage, &store->shape);
                if (err || bytes->n - start < 6 * usage->n_cpu + 8)
                        return err;
                bytes->n = start;
        }
        err = put_cpu_in_full(store, bytes, usage);
        return err || !shaped ? err : take_shape(&store->shape, usage);
}

static int put_screen(struct bytes *bytes, const struct usage *usage)
{
        int err = put_number(bytes, usage->n_screen);

        for (size_t i = 0; !err && i < usage->n_screen; i++) {
                err = put_number(bytes, (uint32_t)(usage->screen[i].brightness + 1));
                if (!err)
                        err = put_number(bytes, usage->screen[i].on_ns);
        }
        return err;
}

int put_usage(struct store *store, struct bytes *bytes, const struct usage *usage, bool shaped)
{
        struct usage copy = *usage;
        uint32_t flags = usage->have & USAGE_ALL;
        int err;

        for (size_t i = 0; i < ARRAY_SIZE(amounts); i++)
                flags |= *amount_of(&copy, i) ? 1u << (FIRST_AMOUNT + i) : 0;
        flags |= (usage->n_cpu ? HAS_CPU : 0) | (usage->n_screen ? HAS_SCREEN : 0);
        err = put_number(bytes, flags);
        for (size_t i = 0; !err && i < ARRAY_SIZE(amounts); i++)
                if (*amount_of(&copy, i))
                        err = put_number(bytes, *amount_of(&copy, i));
        if (!err && usage->n_cpu)
                err = put_cpu(store, bytes, usage, shaped);
        if (!err && usage->n_screen)
                err = put_screen(bytes, usage);
        return err;
}

/* How many entries follow; each has at least @size bytes, so a lie about it allocates nothing. */
static int get_count(struct reader *reader, size_t size, size_t *ret)
{
        uint64_t n;
        int err = get_number(reader, &n);

        if (err)
                return err;
        if (n > (size_t)(reader->end - reader->at) / size)
                return -EBADMSG;
        *ret = (size_t)n;
        return 0;
}

/* @relative: any_ns is told by its difference, as it is written now; else whole. */
static int get_cpu_in_full(const struct store *store, struct reader *reader, uint64_t n, bool relative,
                           struct usage *usage)
{
        uint64_t any_62 = UINT64_C(1) << 62;
        int err = 0;

        if (n > (size_t)(reader->end - reader->at) / 3)
                return -EBADMSG;
        usage->cpu = calloc(n + 1, sizeof(*usage->cpu));
        if (!usage->cpu)
                return -ENOMEM;
        for (size_t i = 0; !err && i < n; i++) {
                struct cpu_time *cpu = &usage->cpu[i], *last = cpu - 1;
                const struct opp_name *opp;
                uint64_t id = 0;

                err = get_number(reader, &id);
                if (!err)
                        err = get_number(reader, &cpu->busy_ns);
                if (!err)
                        err = get_number(reader, &cpu->any_ns);
                opp = names_find_opp(store, id);
                if (err || !opp)
                        return -EBADMSG;
                if (relative)
                        cpu->any_ns = unzigzag(cpu->any_ns, scale(cpu->busy_ns, any_62));
                any_62 = any_ratio(cpu);
                cpu->policy = opp->policy;
                cpu->khz = opp->khz;
                if (i > 0 &&
                    (last->policy > cpu->policy || (last->policy == cpu->policy && last->khz >= cpu->khz)))
                        return -EBADMSG;
                usage->n_cpu++;
        }
        return err;
}

static int get_difference(struct reader *reader, uint64_t *zeros, uint64_t *ret)
{
        int err;

        *ret = 0;
        if (*zeros == 0) {
                err = get_number(reader, ret);
                if (err || *ret)
                        return err;
                err = get_number(reader, zeros);
                if (err || *zeros == 0)
                        return -EBADMSG;
        }
        (*zeros)--;
        return 0;
}

static int get_cpu_by_shape(struct reader *reader, const struct shape *shape, struct usage *usage)
{
        uint64_t zeros = 0, number, sum_ns = 0;
        struct scaling scaling = { 0 };
        int err = shape->sum_ns ? get_number(reader, &sum_ns) : -EBADMSG;

        if (err)
                return err;
        usage->cpu = calloc(shape->n, sizeof(*usage->cpu));
        if (!usage->cpu)
                return -ENOMEM;
        scaling.ratio_62 = ratio(sum_ns, shape->sum_ns);
        for (size_t i = 0; !err && i < shape->n; i++) {
                const struct shape_point *point = &shape->points[i];
                struct cpu_time *cpu = &usage->cpu[usage->n_cpu];

                *cpu = point->cpu;
                err = get_difference(reader, &zeros, &number);
                cpu->busy_ns = unzigzag(number, scale_next(&scaling, point));
                if (!err)
                        err = get_difference(reader, &zeros, &number);
                cpu->any_ns = unzigzag(number, scale(cpu->busy_ns, point->any_scale));
                usage->n_cpu += cpu->busy_ns || cpu->any_ns;
        }
        return err || zeros ? -EBADMSG : 0;
}

static int get_cpu(struct store *store, struct reader *reader, struct usage *usage, bool shaped)
{
        uint64_t head = 0;
        int err = get_number(reader, &head);

        if (!err && head == 1 && shaped)
                return get_cpu_by_shape(reader, &store->shape, usage);
        if (err || head == 1)
                return -EBADMSG;
        err = get_cpu_in_full(store, reader, head / 2, head & 1, usage);
        return err || !shaped ? err : take_shape(&store->shape, usage);
}

static int get_screen(struct reader *reader, struct usage *usage)
{
        size_t n;
        int err = get_count(reader, 2, &n);

        for (size_t i = 0; !err && i < n; i++) {
                uint64_t brightness = 0, on_ns = 0;

                err = get_number(reader, &brightness);
                if (!err)
                        err = get_number(reader, &on_ns);
                if (!err && brightness > UINT32_MAX)
                        err = -EBADMSG;
                if (!err)
                        err = usage_add_screen(usage, (uint32_t)brightness - 1, on_ns);
        }
        return err;
}

int get_usage(struct store *store, struct reader *reader, struct usage *ret, bool shaped)
{
        struct usage usage = { 0 };
        uint64_t flags = 0;
        int err = get_number(reader, &flags);

        if (!err && flags >= MOST_FLAGS)
                err = -EBADMSG;
        usage.have = (uint32_t)flags & USAGE_ALL;
        for (size_t i = 0; !err && i < ARRAY_SIZE(amounts); i++)
                if (flags & 1u << (FIRST_AMOUNT + i))
                        err = get_number(reader, amount_of(&usage, i));
        if (!err && (flags & HAS_CPU))
                err = get_cpu(store, reader, &usage, shaped);
        if (!err && (flags & HAS_SCREEN))
                err = get_screen(reader, &usage);
        if (err) {
                usage_clear(&usage);
                return err;
        }
        *ret = usage;
        return 0;
}
