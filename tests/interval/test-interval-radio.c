/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Packets over radios become amounts of apps: of the process that sent them, of the base, in the state that
 * the app was in.
 */

#include <stdlib.h>

#include "interval-fixture.h"
#include "model/radio-usage.h"

/* Adds packets of 100 bytes that are sent over WiFi, from so long before the poll on, in one burst of 10 ms. */
static void packets(struct fixture *f, pid_t pid, uint64_t start_time, double before_s, uint64_t n)
{
        struct process_burst *burst = sample_add_burst(&f->sample);
        int64_t first_ns = (int64_t)f->boottime_ns - (int64_t)(before_s * 1e9);

        *burst = (struct process_burst){
                .process = { pid, start_time }, .air = AIR_WIFI,
                .burst = { .first_ns = first_ns, .last_ns = first_ns + (int64_t)(10 * NS_PER_MS),
                           .packets[RADIO_TX] = n, .bytes[RADIO_TX] = 100 * n },
        };
        f->sample.have |= SAMPLE_BURSTS;
}

struct sums {
        /* up_ms, spans: by the longest timer, which never runs out between these packets */
        uint64_t packets, bytes, up_ms, spans;
};

static struct sums sums_of(const struct usage *usage, enum air air)
{
        struct radio_shape shape;
        struct sums sums = { 0 };

        radio_shape_stored(&shape);
        for (size_t i = 0; i < usage->radio.n; i++) {
                const struct point *point = &usage->radio.list[i];

                if (point->group != (uint32_t)air)
                        continue;
                for (size_t c = 0; c < radio_shape_classes(&shape); c++) {
                        sums.packets += point->key == radio_cell_packets(c, RADIO_TX) ? point->amount : 0;
                        sums.up_ms += point->key == radio_cell_up(&shape, c, shape.n_rungs - 1) ? point->amount : 0;
                        sums.spans += point->key == radio_cell_opened(&shape, c, shape.n_rungs - 1) ? point->amount : 0;
                }
        }
        sums.bytes = radio_usage_bytes(usage, air);
        return sums;
}

static struct sums sums_of_row(const struct fixture *f, const char *app, enum app_state state)
{
        const struct usage *usage = &row(f, app, state)->usage;

        check(usage->radio.n == 0 || usage->have & USAGE_RADIO);
        return sums_of(usage, AIR_WIFI);
}

static void apps(struct fixture *f, double seconds, bool mail)
{
        struct sample *sample = after(f, seconds);

        process(sample, 10, 1, "chat", 1000);
        if (mail)
                process(sample, 20, 1, "mail", 1000);
        sample->have |= SAMPLE_BURSTS;
}

/* Packets of a process that is in no sample belong to no app, and so do broadcasts. */
static void packets_are_of_who_sent_them(void)
{
        struct fixture f;
        struct sums sums;

        setup(&f);
        apps(&f, 10, true);
        check_int(poll(&f), -ENODATA);
        apps(&f, 10, true);
        packets(&f, 10, 1, 9, 3);
        packets(&f, 10, 1, 8, 4);
        packets(&f, 20, 1, 7, 5);
        packets(&f, 20, 2, 6, 6); /* another process of that number */
        packets(&f, 0, 0, 5, 7);
        check_int(poll(&f), 0);
        check_int(sums_of_row(&f, "chat", STATE_BACKGROUND).packets, 7);
        check_int(sums_of_row(&f, "chat", STATE_BACKGROUND).bytes, 700);
        check_int(sums_of_row(&f, "mail", STATE_BACKGROUND).packets, 5);
        check_int(sums_of_row(&f, "", STATE_BACKGROUND).packets, 13);
        sums = sums_of_row(&f, "chat", STATE_BACKGROUND);
        check_int(sums.spans, 1); /* it woke the radio; the others found it awake */
        sums.up_ms += sums_of_row(&f, "mail", STATE_BACKGROUND).up_ms + sums_of_row(&f, "", STATE_BACKGROUND).up_ms;
        check_int(sums.up_ms, 9000);
        teardown(&f);
}

/* The app that woke the radio pays for the silence, even if none of its processes is left. */
static void silence_is_of_who_is_gone(void)
{
        struct fixture f;

        setup(&f);
        apps(&f, 10, true);
        check_int(poll(&f), -ENODATA);
        apps(&f, 10, true);
        packets(&f, 20, 1, 1, 2);
        check_int(poll(&f), 0);
        check_int(sums_of_row(&f, "mail", STATE_BACKGROUND).up_ms, 1000);
        apps(&f, 10, false);
        check_int(poll(&f), 0);
        check_int(sums_of_row(&f, "mail", STATE_BACKGROUND).up_ms, 10000);
        apps(&f, 10, false);
        check_int(poll(&f), 0);
        check_int(sums_of_row(&f, "mail", STATE_BACKGROUND).up_ms, 10000);
        check_int(sums_of_row(&f, "mail", STATE_BACKGROUND).packets, 0);
        check(row(&f, "mail", STATE_BACKGROUND)->usage.have & USAGE_CPU); /* it used none, which is known */
        apps(&f, 1000, false);
        check_int(poll(&f), 0);
        apps(&f, 10, false); /* the longest timer is over */
        check_int(poll(&f), 0);
        check(absent(&f, "mail", STATE_BACKGROUND));
        teardown(&f);
}

/* Lists of points must be ascending, as they are merged without a check. */
static void check_ascending(const struct points *points)
{
        for (size_t i = 1; i < points->n; i++)
                check(points->list[i - 1].group < points->list[i].group ||
                      (points->list[i - 1].group == points->list[i].group &&
                       points->list[i - 1].key < points->list[i].key));
}

/* An app that comes back while the silence after its packets goes on is the same one. */
static void who_comes_back_is_the_same(void)
{
        struct sums sums;
        struct fixture f;

        setup(&f);
        apps(&f, 10, true);
        check_int(poll(&f), -ENODATA);
        apps(&f, 10, true);
        packets(&f, 20, 1, 1, 2);
        check_int(poll(&f), 0);
        apps(&f, 10, false);
        check_int(poll(&f), 0);
        apps(&f, 10, false);
        process(&f.sample, 30, 2, "mail", 1000);
        packets(&f, 30, 2, 5, 3);
        check_int(poll(&f), 0);
        sums = sums_of_row(&f, "mail", STATE_BACKGROUND);
        check_int(sums.packets, 3);
        check_int(sums.bytes, 300);
        check_int(sums.up_ms, 10000);
        check_int(sums.spans, 0); /* it is up still */
        check_ascending(&row(&f, "mail", STATE_BACKGROUND)->usage.radio);
        teardown(&f);
}

static void states_share_by_time(void)
{
        struct fixture f;

        setup(&f);
        apps(&f, 10, false);
        screen(&f.sample, "chat", true, 1);
        check_int(poll(&f), -ENODATA);
        apps(&f, 10, false);
        screen(&f.sample, "", true, 1);
        event(&f.sample, f.boottime_ns - 7 * S, "", true, 1);
        packets(&f, 10, 1, 9, 1000);
        check_int(poll(&f), 0);
        check_int(sums_of_row(&f, "chat", STATE_FOREGROUND).packets, 300);
        check_int(sums_of_row(&f, "chat", STATE_BACKGROUND).packets, 700);
        check_int(sums_of_row(&f, "chat", STATE_FOREGROUND).bytes, 30000);
        teardown(&f);
}

/*
 * Packets of a sample that was not taken count in the next interval. Where they are unknown, so are those
 * of the interval.
 */
static void skipped_samples_lose_nothing(void)
{
        struct fixture f;

        setup(&f);
        apps(&f, 10, true);
        check_int(poll(&f), -ENODATA);
        apps(&f, 10, true);
        packets(&f, 10, 1, 9, 3);
        check_int(interval_skip(f.maker, &f.sample), 0);
        apps(&f, 10, true);
        packets(&f, 10, 1, 9, 4);
        check_int(poll(&f), 0);
        check_int(sums_of_row(&f, "chat", STATE_BACKGROUND).packets, 7);
        check_int(sums_of_row(&f, "chat", STATE_BACKGROUND).up_ms, 19000);
        check(row(&f, "", STATE_BACKGROUND)->usage.have & USAGE_RADIO);

        apps(&f, 10, true);
        packets(&f, 10, 1, 9, 3);
        f.sample.have &= ~(uint32_t)SAMPLE_BURSTS;
        check_int(interval_skip(f.maker, &f.sample), 0);
        apps(&f, 10, true);
        packets(&f, 10, 1, 9, 4);
        check_int(poll(&f), 0);
        check(!(row(&f, "", STATE_BACKGROUND)->usage.have & USAGE_RADIO));
        check_int(sums_of_row(&f, "chat", STATE_BACKGROUND).packets, 0);
        apps(&f, 10, true);
        packets(&f, 10, 1, 9, 4);
        check_int(poll(&f), 0);
        check_int(sums_of_row(&f, "chat", STATE_BACKGROUND).packets, 4);
        teardown(&f);
}

/* Packs and unpacks amounts as in a database. */
static void packed_and_back(void)
{
        struct bytes bytes = { 0 };
        struct bytes_reader reader;
        struct points back = { 0 };
        struct fixture f;
        const struct points *points;

        setup(&f);
        apps(&f, 10, true);
        check_int(poll(&f), -ENODATA);
        apps(&f, 10, true);
        packets(&f, 10, 1, 9, 3);
        packets(&f, 10, 1, 7, 4);
        sample_add_burst(&f.sample);
        f.sample.bursts[2] = f.sample.bursts[1];
        f.sample.bursts[2].air = AIR_CELLULAR;
        check_int(poll(&f), 0);
        points = &row(&f, "chat", STATE_BACKGROUND)->usage.radio;
        check_int(sums_of(&row(&f, "chat", STATE_BACKGROUND)->usage, AIR_CELLULAR).packets, 4);
        check_int(radio_usage_pack(points, &bytes), 0);
        reader = (struct bytes_reader){ bytes.data, bytes.data + bytes.n };
        check_int(radio_usage_unpack(&reader, &back), 0);
        check_int(back.n, points->n);
        check(back.n == points->n && memcmp(back.list, points->list, points->n * sizeof(*back.list)) == 0);
        free(back.list);
        for (size_t n = 1; n < bytes.n; n++) {
                unsigned char *cut = malloc(n);

                memcpy(cut, bytes.data, n);
                back = (struct points){ 0 };
                reader = (struct bytes_reader){ cut, cut + n };
                if (radio_usage_unpack(&reader, &back) == 0)
                        check(back.n < points->n); /* cut between two radios */
                free(back.list);
                free(cut);
        }
        bytes_clear(&bytes);
        teardown(&f);
}

int main(void)
{
        packets_are_of_who_sent_them();
        silence_is_of_who_is_gone();
        who_comes_back_is_the_same();
        states_share_by_time();
        skipped_samples_lose_nothing();
        packed_and_back();
        return check_result();
}
