/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * A usage as bytes. Every number is a LEB128 varint (seven bits a byte, low
 * ones first, the high bit says that more follow):
 *
 *   flags                           bits 0-4: `have`; bit 5+i: amount i of amounts[] follows; then CPU, screen
 *   amounts                         those that are not 0, in the order of amounts[]
 *   n, n x (opp, busy_ns, any_ns)   CPU; opp is the id in table opp
 *   n, n x (brightness + 1, on_ns)  screen; 0: brightness unknown
 *
 * Column interval.usage is such usages in a row, each after its
 * (app * 2 + state, process or 0); the first one is nobody's.
 * Column interval.active is (app * 2 + state, active_ns) in a row: apps that were not alive in the background all of
 * the interval. Those that were are in table alive, each id as the difference to the one before.
 */

#include <errno.h>
#include <string.h>

#include "store-private.h"
#include "util.h"

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

static int put_cpu(struct store *store, struct bytes *bytes, const struct usage *usage)
{
        int err = put_number(bytes, usage->n_cpu);

        for (size_t i = 0; !err && i < usage->n_cpu; i++) {
                int64_t opp;

                err = names_opp(store, usage->cpu[i].policy, usage->cpu[i].khz, &opp);
                if (!err)
                        err = put_number(bytes, (uint64_t)opp);
                if (!err)
                        err = put_number(bytes, usage->cpu[i].busy_ns);
                if (!err)
                        err = put_number(bytes, usage->cpu[i].any_ns);
        }
        return err;
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

int put_usage(struct store *store, struct bytes *bytes, const struct usage *usage)
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
                err = put_cpu(store, bytes, usage);
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

static int get_cpu(const struct store *store, struct reader *reader, struct usage *usage)
{
        size_t n;
        int err = get_count(reader, 3, &n);

        if (err)
                return err;
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
                cpu->policy = opp->policy;
                cpu->khz = opp->khz;
                if (i > 0 && (last->policy > cpu->policy || (last->policy == cpu->policy && last->khz >= cpu->khz)))
                        return -EBADMSG;
                usage->n_cpu++;
        }
        return err;
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

int get_usage(const struct store *store, struct reader *reader, struct usage *ret)
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
                err = get_cpu(store, reader, &usage);
        if (!err && (flags & HAS_SCREEN))
                err = get_screen(reader, &usage);
        if (err) {
                usage_clear(&usage);
                return err;
        }
        *ret = usage;
        return 0;
}
