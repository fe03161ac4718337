/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A supply that stays online after it was unplugged differs from a weak charger in how fast the level falls. */

#include "api/joulecast-private.h"
#include "forecast/charging.h"
#include "forecast/cost.h"
#include "model/profile.h"
#include "tree.h"
/* Last: its variable `path` would hide arguments of the others. */
#include "store-fixture.h"

#define POLL (30 * S)
#define FULL_MWH 50000

static double base_mw = 5000; /* an hour takes 10 % */

static struct profile *make_profile(void)
{
        struct profile *profile;

        check_int(profile_new("test", FULL_MWH, &profile), 0);
        check_int(profile_add(profile, &(struct coefficient){ .term = TERM_BASE,
                                                              .value = base_mw,
                                                              .standard_error = 50 }),
                  0);
        profile->degrees_of_freedom = 30;
        profile->scale_percent = profile->discrepancy_percent = 0;
        return profile;
}

/* Appends @minutes with a supply online, while the level falls evenly. Returns their end. */
static int64_t fill(struct store *store, int64_t begin_ns, double minutes, double fall_percent,
                    enum battery_status status)
{
        struct interval interval = { 0 };
        int n = (int)(minutes * 2);

        for (int i = 0; i <= n; i++) {
                struct interval_row *row;

                make_interval(&interval, begin_ns + i * POLL, POLL, 0);
                for (size_t k = 0; k < interval.n_rows; k++)
                        usage_clear(&interval.rows[k].usage);
                interval.n_rows = 0;
                row = add_row(&interval, "", STATE_BACKGROUND, POLL);
                row->usage.have = USAGE_ALL;
                row->usage.time_ns = POLL;
                interval.suspend_ns = 0;
                interval.battery_have = 0;
                interval.have |= SAMPLE_BATTERY;
                interval.battery =
                        (struct battery){ .status = status,
                                          .have = BATTERY_ENERGY_NOW | BATTERY_ENERGY_FULL,
                                          .energy_full_uwh = FULL_MWH * 1000,
                                          .energy_now_uwh =
                                                  (uint64_t)(FULL_MWH * 10 * (80 - fall_percent * i / n)) };
                check_int(store_append(store, &interval), 0);
        }
        interval_clear(&interval);
        return begin_ns + n * POLL;
}

/* After @later minutes, is the supply stale? */
static int is_stale(double minutes, double fall_percent, enum battery_status status, double later)
{
        struct store *store = open_store(STORE_WRITE);
        struct profile *profile = make_profile();
        int64_t end_ns = fill(store, START, minutes, fall_percent, status);
        struct battery battery = { .status = BATTERY_NOT_CHARGING, .said = BATTERY_DISCHARGING };
        int stale = charging_correct(store, profile, end_ns + (int64_t)(later * 60) * S, &battery);

        check_int(battery.status, stale ? BATTERY_DISCHARGING : BATTERY_NOT_CHARGING);
        profile_free(profile);
        store_close(store);
        remove_database();
        return stale;
}

/* The whole answer for a machine whose port shows to be online: it is on battery unless @plugged. */
static void told_of_the_machine(double fall_percent, int plugged)
{
        static const char port[] = "POWER_SUPPLY_TYPE=USB\nPOWER_SUPPLY_ONLINE=1\n",
                          unit[] = "POWER_SUPPLY_TYPE=Battery\nPOWER_SUPPLY_STATUS=Discharging\n"
                                   "POWER_SUPPLY_CAPACITY=70\n";
        char folder[] = "/tmp/joulecast-stale-XXXXXX";
        struct store *store = open_store(STORE_WRITE);
        struct joulecast_profile profile = { .profile = make_profile() };
        struct joulecast_context context = { .machine = folder };
        struct joulecast_usage usage = { .context = &context, .store = store, .live = true };
        const struct forecast_battery *battery = NULL;

        check(mkdtemp(folder) && tree_write(folder, "sys/class/power_supply/port/uevent", port, strlen(port)) &&
              tree_write(folder, "sys/class/power_supply/BAT0/uevent", unit, strlen(unit)));
        fill(store, (int64_t)util_clock_ns(CLOCK_REALTIME) - 66 * 60 * S, 65, fall_percent, BATTERY_NOT_CHARGING);
        check_int(api_usage_battery(&usage, &profile, &battery), 0);
        check_int(api_usage_plugged(battery), plugged);
        check_int(usage.stale, !plugged);
        tree_remove(folder);
        profile_free(profile.profile);
        store_close(store);
        remove_database();
}

/* A status that the battery itself reports is trusted; one that a supply makes of Discharging or Unknown is not. */
static void doubts_no_word_of_the_battery(void)
{
        static const struct {
                enum battery_status status, said;
                bool doubtful;
        } rows[] = {
                { BATTERY_NOT_CHARGING, BATTERY_DISCHARGING, true },
                { BATTERY_NOT_CHARGING, BATTERY_UNKNOWN, true },
                { BATTERY_NOT_CHARGING, BATTERY_NOT_CHARGING, false },
                { BATTERY_FULL, BATTERY_DISCHARGING, true },
                { BATTERY_FULL, BATTERY_UNKNOWN, true },
                { BATTERY_FULL, BATTERY_NOT_CHARGING, false },
                { BATTERY_FULL, BATTERY_FULL, false },
                { BATTERY_CHARGING, BATTERY_CHARGING, false },
                { BATTERY_DISCHARGING, BATTERY_DISCHARGING, false },
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
                check_int(charging_is_doubtful(&(struct battery){ .status = rows[i].status, .said = rows[i].said }),
                          rows[i].doubtful);
}

int main(void)
{
        name_database();
        check_int(is_stale(65, 10.8, BATTERY_NOT_CHARGING, 0), 1);
        check_int(is_stale(65, 8.5, BATTERY_NOT_CHARGING, 0), 1);
        check_int(is_stale(65, 4, BATTERY_NOT_CHARGING, 0), 0);     /* a weak charger gives the rest */
        check_int(is_stale(65, 30, BATTERY_NOT_CHARGING, 0), 0);    /* more than the model knows of: not clear */
        check_int(is_stale(65, 0, BATTERY_NOT_CHARGING, 0), 0);
        base_mw = 500; /* 1 % an hour */
        check_int(is_stale(65, 1.08, BATTERY_NOT_CHARGING, 0), 0);      /* too little to decide */
        check_int(is_stale(200, 3.33, BATTERY_NOT_CHARGING, 0), 1);
        check_int(is_stale(600, 3.33, BATTERY_NOT_CHARGING, 0), 0);     /* a weak charger gives the rest */
        check_int(is_stale(200, 8, BATTERY_NOT_CHARGING, 0), 0);
        base_mw = 5000;
        check_int(is_stale(30, 5, BATTERY_NOT_CHARGING, 0), 0);     /* not long enough */
        check_int(is_stale(65, 10.8, BATTERY_DISCHARGING, 0), 0);   /* no supply was online */
        check_int(is_stale(65, 10.8, BATTERY_NOT_CHARGING, 10), 0); /* no poll since */
        check_int(is_stale(65, 10.8, BATTERY_FULL, 0), 1);          /* without a current sensor 99 % is full */
        doubts_no_word_of_the_battery();
        told_of_the_machine(10.8, 0);
        told_of_the_machine(4, 1);
        return check_result();
}
