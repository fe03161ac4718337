/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The energy in a timeline is that of the cost, from any mix of sums in the store, and in any time zone. */

#include <time.h>

#include "forecast/cost.h"
#include "forecast/timeline.h"
#include "model/profile.h"
#include "store-fixture.h"

#define AWAKE_NS ((uint64_t)HOUR * 3 / 4)
#define END (START + 130 * DAY)

static const char text[] = "[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 20000\n"
                           "[fit]\ndegrees_of_freedom = 30\nscale_percent = 1\n[base]\npower_mw = 100 1\n"
                           "[suspend]\npower_mw = 20 1\n"
                           "[cpu 0]\nactive_mw.400000 = 500 5\nshared_mw.400000 = 0 0\n"
                           "[app 1]\nid = app-0\nbehind_mw = 200 5\n";
static struct profile *profile;

static void fill(struct store *store)
{
        static const struct store_retention retention = { 48, 60, 0 };
        struct interval interval = { .elapsed_ns = (uint64_t)HOUR };

        for (int64_t end = START + HOUR; end <= END; end += HOUR) {
                interval.start_realtime_ns = end - HOUR;
                interval.end_realtime_ns = end;
                for (size_t i = 0; i < interval.n_rows; i++)
                        usage_clear(&interval.rows[i].usage);
                interval.n_rows = 0;
                add_row(&interval, "", STATE_BACKGROUND, 0)->usage = (struct usage){
                        .have = USAGE_ALL, .time_ns = AWAKE_NS, .suspend_ns = (uint64_t)HOUR - AWAKE_NS };
                for (unsigned i = 0; i < 5; i++) {
                        char app[16];
                        struct interval_row *row;

                        snprintf(app, sizeof(app), "app-%u", i % 4); /* app-0 of two users */
                        row = add_row(&interval, app, STATE_BACKGROUND, AWAKE_NS);
                        row->uid = 1000 + i;
                        row->usage.have = USAGE_ALL;
                        usage_add_cpu(&row->usage, 0, 400000, draw() % (uint64_t)HOUR, NS_PER_S);
                }
                check_int(store_append(store, &interval), 0);
                check_int(store_roll_up(store, end, &retention), 0);
        }
        interval_clear(&interval);
}

static double sum_of(const struct timeline *timeline)
{
        double sum_j = 0;

        for (size_t i = 0; i < timeline->n_slots; i++) {
                const struct timeline_slot *slot = &timeline->slots[i];

                check(i == 0 || slot->start_ns == timeline->slots[i - 1].end_ns);
                sum_j += slot->base_j + slot->others_j;
                for (size_t a = 0; a < timeline->n_apps; a++)
                        sum_j += slot->apps_j[a];
        }
        return sum_j;
}

/* Start of the hour, as history that is only kept by hours is not cut within one. */
static int64_t full_hour(int64_t time_ns)
{
        return time_ns - time_ns % HOUR;
}

static void as_the_cost(struct store *store, int64_t from_ns, int64_t to_ns, uint32_t slot_s)
{
        struct timeline *timeline = NULL;
        struct cost *cost = NULL;

        check_int(timeline_make(profile, store, -1, from_ns, to_ns, &timeline), 0);
        check_int(cost_make(profile, store, from_ns, to_ns, &cost), 0);
        if (timeline && cost) {
                check_int(timeline->slot_s, slot_s);
                check_near(sum_of(timeline), cost->total_j.value, 1e-9 * cost->total_j.value);
        }
        timeline_free(timeline);
        cost_free(cost);
}

int main(void)
{
        static const char *const zones[] = { "UTC", "Asia/Kolkata", "America/St_Johns" };
        struct store *store;

        check_int(profile_parse(text, strlen(text), "hand", NULL, &profile), 0);
        if (!profile)
                return 1;
        name_database();
        store = open_store(STORE_WRITE);
        fill(store);
        for (size_t i = 0; i < ARRAY_SIZE(zones); i++) {
                setenv("TZ", zones[i], 1);
                tzset();
                as_the_cost(store, INT64_MIN, INT64_MAX, TIMELINE_DAY_S);
                as_the_cost(store, full_hour(START + 3 * DAY + 7 * HOUR), full_hour(END - 5 * HOUR), TIMELINE_DAY_S);
                as_the_cost(store, full_hour(END - 40 * DAY), INT64_MAX, TIMELINE_DAY_S);
                as_the_cost(store, full_hour(END - 10 * DAY), INT64_MAX, TIMELINE_HOUR_S);
        }
        store_close(store);
        remove_database();
        profile_free(profile);
        return check_result();
}
