/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device without a calibration: its class, and the class's file adapted to a machine. */

#include <errno.h>
#include <math.h>

#include "api/first-day.h"
#include "check.h"
#include "machine/machine.h"
#include "model/model.h"
#include "model/profile-class.h"
#include "source/battery.h"
#include "tree.h"

static const char *folder;

/* As many policies as have a highest frequency. */
static void choice(void)
{
        static const struct {
                const char *chassis;
                bool battery;
                double full_mwh;
                uint32_t khz;
                const char *class, *why;
        } cases[] = {
                { "", false, NAN, 3000000, NULL, "" },
                { "handset", true, 30000, 2400000, "class-phone", "its firmware says: handset" },
                { "tablet", true, 15000, 1512000, "class-tablet", "its firmware says: tablet" },
                { "convertible", true, 30000, 4400000, "class-laptop", "its firmware says: convertible" },
                { "", true, 15010, 1512000, "class-phone", "a battery of 15 Wh, 4 CPUs up to 1.5 GHz" },
                { "", true, 5200, 0, "class-phone", "a battery of 5 Wh, 4 CPUs" },
                { "embedded", true, 32000, 2000000, "class-tablet", "a battery of 32 Wh, 4 CPUs up to 2.0 GHz" },
                { "", true, 40000, 3500000, "class-handheld", "a battery of 40 Wh, 4 CPUs up to 3.5 GHz" },
                { "", true, 57000, 2400000, "class-laptop", "a battery of 57 Wh, 4 CPUs up to 2.4 GHz" },
                { "", true, NAN, 2400000, "class-phone",
                  "4 CPUs up to 2.4 GHz; it does not show its battery's energy" },
                { "", true, NAN, 4400000, "class-laptop",
                  "4 CPUs up to 4.4 GHz; it does not show its battery's energy" },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct class_policy policy = { .khz = { 300000, cases[i].khz }, .n_khz = cases[i].khz ? 2 : 0 };
                struct class_facts facts = { .battery = cases[i].battery, .energy_full_mwh = cases[i].full_mwh,
                                             .n_cpus = 4, .policies = &policy, .n_policies = 1 };
                char why[160] = "";
                const char *class;

                snprintf(facts.chassis, sizeof(facts.chassis), "%s", cases[i].chassis);
                class = profile_class_choose(&facts, why, sizeof(why));
                check_text(class ? class : "none", cases[i].class ? cases[i].class : "none");
                check_text(why, cases[i].why);
        }
}

static struct profile *load(const char *name)
{
        _cleanup_free_ char *path = NULL;
        struct profile *profile = NULL;

        check(asprintf(&path, "%s/%s.ini", folder, name) > 0);
        check_int(profile_load(path, NULL, &profile), 0);
        return profile;
}

/* Every component has a price with an error, so that nothing that is used is left out of a sum. */
static void files(void)
{
        static const char *const names[] = { "class-phone", "class-tablet", "class-handheld", "class-laptop" };

        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                _cleanup_(profile_freep) struct profile *class = load(names[i]);
                bool seen[TERM_COUNT] = { [TERM_CPU_IDLE] = true, [TERM_CPU_INSTRUCTIONS] = true,
                                          [TERM_CPU_MISSES] = true }; /* kinds of work are priced by learning */

                if (!class)
                        continue;
                check(profile_is_class_file(class));
                check_text(class->device, names[i]);
                check_text(profile_basis(class), "class");
                check(class->degrees_of_freedom > 0 && class->max_brightness == 100);
                for (size_t k = 0; k < class->n_coefficients; k++) {
                        const struct coefficient *c = &class->coefficients[k];

                        seen[c->term] = true;
                        check(c->standard_error >= 0.3 * c->value && c->standard_error <= c->value);
                }
                for (size_t term = 0; term < TERM_CURVE; term++)
                        check(seen[term] || term_keys[term].held);
        }
}

static double value_of(const struct profile *profile, const char *key)
{
        ssize_t i = profile_find_key(profile, key);

        return i < 0 ? NAN : profile->coefficients[i].value;
}

/* Two clusters, a third with the frequencies of the first, and another range of brightness. */
static void machines_own(void)
{
        struct class_policy policies[3] = {
                { .policy = 0, .cpus = "0-3", .khz = { 300000, 450000, 650000 }, .n_khz = 3 },
                { .policy = 4, .cpus = "4-5", .n_khz = 20 },
                { .policy = 6, .cpus = "6-7", .khz = { 300000, 450000, 650000 }, .n_khz = 3 },
        };
        struct class_facts facts = { .battery = true, .energy_full_mwh = 12345, .max_brightness = 4000,
                                     .policies = policies, .n_policies = 3 };
        _cleanup_(profile_freep) struct profile *class = load("class-phone"), *profile = NULL, *again = NULL;
        _cleanup_free_ char *text = NULL;
        ssize_t low, high, other, screen;

        for (uint32_t i = 0; i < 20; i++)
                policies[1].khz[i] = 500000 + 100000 * i;
        if (!class)
                return;
        check_int(profile_from_class(class, &facts, &profile), 0);
        check_text(profile_basis(profile), "class");
        check(!profile_is_class_file(profile));
        check_near(profile->energy_full_mwh, 12345, 0);
        check_int(profile->max_brightness, 4000);
        check_near(value_of(profile, "display.power_mw.2000"), value_of(class, "display.power_mw.50"), 0);
        check_near(value_of(profile, "cpu.0.active_mw.300000"), value_of(class, "cpu.0.active_mw.300000"), 0);
        check_near(value_of(profile, "cpu.0.active_mw.450000"), (value_of(class, "cpu.0.active_mw.300000") +
                   value_of(class, "cpu.0.active_mw.600000")) / 2, 1e-9);
        check(value_of(profile, "cpu.4.active_mw.2400000") > value_of(class, "cpu.0.active_mw.2000000"));
        check(isnan(value_of(profile, "cpu.4.active_mw.600000"))); /* a few of its frequencies are enough */
        check_int(profile_as(profile, 6), 0);
        check_int(profile_as(profile, 4), 4);
        check_int(profile_as(profile, 17), 0); /* a policy that the machine does not have */

        low = profile_find_key(profile, "cpu.0.active_mw.300000");
        high = profile_find_key(profile, "cpu.0.shared_mw.650000");
        other = profile_find_key(profile, "cpu.4.active_mw.500000");
        screen = profile_find_key(profile, "display.power_mw.0");
        check(low >= 0 && high >= 0 && other >= 0 && screen >= 0);
        if (low >= 0 && high >= 0 && other >= 0 && screen >= 0) {
                check(profile_covariance(profile, (size_t)low, (size_t)high) > 0);
                check(profile_covariance(profile, (size_t)low, (size_t)other) > 0);
                check_near(profile_covariance(profile, (size_t)low, (size_t)screen), 0, 0);
        }
        check_int(profile_check_covariance(profile), 0);
        check_int(profile_print(profile, &text), 0);
        check_int(profile_parse(text, strlen(text), "printed", NULL, &again), 0);
}

/* Every policy, frequency and brightness has a price. */
static void all_is_priced(void)
{
        struct class_facts facts = { .battery = true, .energy_full_mwh = NAN };
        _cleanup_(profile_freep) struct profile *class = load("class-laptop"), *profile = NULL;
        struct usage usage = { .have = USAGE_ALL,
                               .time_ns = 1000000000,
                               .read_bytes = 1,
                               .wifi_rx_bytes = 1,
                               .gpu_busy_ns = 1 };
        struct model_vector vector = { 0 };
        struct model_energy energy;

        if (!class)
                return;
        check_int(profile_from_class(class, &facts, &profile), 0);
        check_near(profile->energy_full_mwh, class->energy_full_mwh, 0);
        check_int(usage_add_cpu(&usage, 0, KHZ_UNKNOWN, 1000000, 1000000), 0);
        check_int(usage_add_cpu(&usage, 12, 1234567, 1000000, 1000000), 0);
        check_int(usage_add_screen(&usage, BRIGHTNESS_UNKNOWN, 1000000), 0);
        check_int(model_vector_make(profile, &usage, &vector), 0);
        check_int(vector.unknown, 0);
        check_int((long long)vector.n_not_measured, 0);
        model_energy(profile, &vector, 0.95, 0, &energy);
        check(energy.half_width_j > 0.3 * energy.value_j);
        model_vector_clear(&vector);
        usage_clear(&usage);
}

static void full(void)
{
        static const struct {
                struct battery battery;
                double mwh;
        } cases[] = {
                { { .have = BATTERY_ENERGY_FULL | BATTERY_CHARGE_FULL | BATTERY_VOLTAGE,
                    .energy_full_uwh = 50000000,
                    .charge_full_uah = 1,
                    .voltage_uv = 1 },
                  50000 },
                { { .have = BATTERY_CHARGE_FULL | BATTERY_VOLTAGE,
                    .charge_full_uah = 4000000,
                    .voltage_uv = 3450000 },
                  15200 },
                { { .have = BATTERY_CHARGE_FULL | BATTERY_VOLTAGE,
                    .charge_full_uah = 4000000,
                    .voltage_uv = 4350000 },
                  15200 },
                { { .have = BATTERY_CHARGE_FULL | BATTERY_VOLTAGE,
                    .charge_full_uah = 4000000,
                    .voltage_uv = 12100000 },
                  45600 },
                { { .have = BATTERY_CHARGE_FULL, .charge_full_uah = 4000000 }, NAN },
                { { .have = BATTERY_CAPACITY }, NAN },
        };

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                double mwh = battery_full_mwh(&cases[i].battery);

                check(isnan(cases[i].mwh) ? isnan(mwh) : fabs(mwh - cases[i].mwh) < 1e-6);
        }
}

static struct profile *first_day(const char *root, char *why, size_t size)
{
        struct profile *profile = NULL;

        why[0] = '\0';
        check_int(first_day_profile(NULL, root, NULL, why, size, &profile), 0);
        return profile;
}

static void real_machine(const char *tree)
{
        static const char laptop[] = "10\n", handset[] = "handset", flo[] = "asus,flo\0qcom,apq8064";
        _cleanup_(profile_freep) struct profile *profile = NULL, *named = NULL, *shipped = NULL, *told = NULL,
                                                *loaded = NULL, *recorded = NULL, *big_little = NULL;
        char dir[64], why[160];

        check(tree_unpack(tree, dir, sizeof(dir)));
        profile = first_day(dir, why, sizeof(why));
        check_text(profile ? profile->device : "", "class-phone");
        check_text(why, "a battery of 11 Wh, 8 CPUs up to 2.4 GHz");
        check(profile && profile->max_brightness == 255 && profile->n_policies == 2);
        check(profile && value_of(profile, "cpu.4.active_mw.2361600") > 0);

        check(tree_write(dir, "sys/devices/system/cpu/cpu0/cpu_capacity", "400\n", 4));
        check(tree_write(dir, "sys/devices/system/cpu/cpu4/cpu_capacity", "1024\n", 5));
        big_little = first_day(dir, why, sizeof(why));
        check(profile && big_little);
        if (profile && big_little) {
                const char *big = "cpu.4.active_mw.2361600", *little = "cpu.0.active_mw.1900800";
                double share = 400.0 / 1900800 / (1024.0 / 2361600);

                check_near(value_of(big_little, big), value_of(profile, big), 1e-9);
                check_near(value_of(big_little, little), share * value_of(profile, little), 1e-9);
        }

        check(tree_write(dir, "sys/class/dmi/id/chassis_type", laptop, strlen(laptop)));
        told = first_day(dir, why, sizeof(why));
        check_text(told ? told->device : "", "class-laptop");
        check_text(why, "its firmware says: laptop");

        check(tree_write(dir, "sys/class/dmi/id/product_name", "ROG Ally RC71L\n", 15));
        named = first_day(dir, why, sizeof(why));
        check_text(named ? named->device : "", "class-handheld");

        check(tree_write(dir, "sys/class/dmi/id/product_name", "Latitude\n", 9));
        check(tree_write(dir, "sys/firmware/devicetree/base/chassis-type", "handset\n", 8)); /* a recorded tree */
        recorded = first_day(dir, why, sizeof(why));
        check_text(recorded ? recorded->device : "", "class-phone");
        check_text(why, "its firmware says: handset");
        check(tree_write(dir, "sys/firmware/devicetree/base/chassis-type", handset, sizeof(handset)));
        check(tree_write(dir, "sys/firmware/devicetree/base/compatible", flo, sizeof(flo)));
        shipped = first_day(dir, why, sizeof(why));
        check_text(shipped ? shipped->device : "", "nexus-7-sapp");
        check_text(shipped ? profile_basis(shipped) : "", "shipped");

        loaded = load("class-tablet");
        check_int(loaded ? first_day_adapt(NULL, dir, NULL, &loaded) : -1, 0);
        check(loaded && !profile_is_class_file(loaded) && loaded->max_brightness == 255);
        tree_remove(dir);
}

static void without_battery(void)
{
        char dir[] = "/tmp/joulecast-first-XXXXXX";
        struct profile *profile = NULL;

        check(mkdtemp(dir));
        check_int(first_day_profile(NULL, dir, NULL, NULL, 0, &profile), -ENOENT);
        check(!profile);
        tree_remove(dir);
}

int main(int argc, char **argv)
{
        if (argc != 3) {
                fprintf(stderr, "usage: test-first-day FOLDER-OF-PROFILES PHONE.tree\n");
                return 2;
        }
        folder = argv[1];
        choice();
        files();
        machines_own();
        all_is_priced();
        full();
        real_machine(argv[2]);
        without_battery();
        return check_result();
}
