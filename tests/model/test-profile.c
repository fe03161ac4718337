/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <locale.h>
#include <stdlib.h>

#include "check.h"
#include "model/coefficient-words.h"
#include "model/profile.h"
#include "util/util.h"

static const char full[] =
        "[profile]\n"
        "version = 1                      ; another version is refused\n"
        "device = nexus-7-2013\n"
        "match = dmi:*Nexus 7*\n"
        "method = percent\n"
        "created = 2026-11-20T03:12:44Z\n"
        "x-validated = true\n"
        "[fit]\n"
        "degrees_of_freedom = 21\n"
        "scale_percent = 1.5\n"
        "discrepancy_percent = 1.0\n"
        "misfit_percent = 12.5\n"
        "[battery]\n"
        "energy_full_mwh = 15000\n"
        "[base]\n"
        "power_mw = 150.0 4.1\n"
        "[cpu 0]\n"
        "cpus = 0-3\n"
        "active_mw.384000 = 160.0 5.2\n"
        "shared_mw.384000 = 41.0 6.0\n"
        "idle_mw.384000 = 0\n"
        "active_mw.1512000 = 0.1 0.30000000000000004\n"
        "spin_ipc = 1.25\ninstruction_cycles = 0.27\nmiss_cycles = 13 2\n"
        "[cpu 4]\ncpus = 4\nidle_share = 0.65\nactive_mw.500000 = 100\n"
        "[display]\n"
        "max_brightness = 255\n"
        "power_mw.5 = 367.8 9\n"
        "power_mw.255 = 854.0 12\n"
        "emission_mw.255 = 1200\n"
        "emission_mw.5 = 40\n"
        "[disk]\n"
        "read_mj_per_mb = 6.0 1.2\n"
        "[disk mmcblk1]\n"
        "write_mj_per_mb = 25.0 3.1\n"
        "[wifi]\n"
        "on_mw = 30 9\n"
        "wake_mj = 120 20\n"
        "[gpu]\n"
        "active_mw = 900 40\n"
        "[gps]\non_mw = 350\nsleep_mw = 0\nx-note = near\n"
        "[audio]\non_mw = 60\n[camera]\non_mw = 900 40\n"
        "[suspend]\n"
        "power_mw = 8 1\n"
        "[virtual]\n"
        "seed = 18446744073709551615\n"
        "voltage_mv.100 = 4190\n"
        "voltage_mv.0 = 3300\n"
        "gauge_period_s = 3.5\n"
        "radio_variation = 0.6\n"
        "radio_variation_tau_s = 3600\n"
        "network_packets_per_s = 0.5\n"
        "charge_full_error_percent = -10\n"
        "gauge_pieces = 12\n"
        "gauge_piece_percent = 1.5\n"
        "frequencies = hidden\n"
        "cycles = none\n"
        "governor = idle-lowers\n"
        "counters = instructions\ncounter_share = 0.1\nkind_residual = 0.055\n"
        "kind_variation = 0.1\nkind_variation_tau_s = 20\nidle_states = shallow\n"
        "[learned]\n"
        "spans = 100\n"
        "width = 1.1\nscored = 9.5\nheld = 8.5\n"
        "predict_width = 1.2\npredict_scored = 7.5\npredict_held = 6.5\n"
        "budget_width = 1.3\nbudget_scored = 5.5\nbudget_held = 4.5\nbudget_likely = 2.5\n"
        "[x-vendor]\n"
        "x-note = kept\n"
        "[covariance]\n"
        "cpu.0.active_mw.384000,base.power_mw = -2.31\n"
        "disk.mmcblk1.write_mj_per_mb,disk.read_mj_per_mb = 0.25\n";

static struct profile *parse(const char *text)
{
        struct log log = { log_to_stderr, (void *)"test-profile" };
        struct profile *profile = NULL;

        check_int(profile_parse(text, strlen(text), "text", &log, &profile), 0);
        return profile;
}

static double value_of(const struct profile *profile, enum term term)
{
        ssize_t i = profile_find(profile, term, 0, 0, "");

        return i < 0 ? NAN : profile->coefficients[i].value;
}

static void reads_every_key(void)
{
        struct profile *profile = parse(full);
        ssize_t active = profile_find(profile, TERM_CPU_ACTIVE, 0, 384000, NULL);
        ssize_t base = profile_find_key(profile, "base.power_mw");
        char key[PROFILE_KEY_MAX];

        check(active >= 0 && base >= 0);
        check_near(profile->coefficients[active].value, 160, 0);
        check_near(profile->coefficients[active].standard_error, 5.2, 0);
        check_near(profile_covariance(profile, (size_t)active, (size_t)base), -2.31, 0);
        check_near(profile_covariance(profile, (size_t)base, (size_t)active), -2.31, 0);
        check_near(profile_covariance(profile, (size_t)base, (size_t)base), 4.1 * 4.1, 1e-12);
        check_int(profile->policies[0].n_cpus, 4);
        check_int(profile->max_brightness, 255);
        check(profile->virtual_device.present);
        check(profile->virtual_device.seed == UINT64_MAX);
        check_near(profile_voltage_mv(profile, 50), 3745, 1e-9);
        check_near(profile_mean_voltage_mv(profile), 3745, 1e-9);
        check_near(profile->virtual_device.radio_variation, 0.6, 0);
        check_near(profile->virtual_device.radio_variation_tau_s, 3600, 0);
        check_near(profile->virtual_device.network_packets_per_s, 0.5, 0);
        check_near(profile->virtual_device.charge_full_error_percent, -10, 0);
        check_int(profile->virtual_device.gauge_pieces, 12);
        check_near(profile->virtual_device.gauge_piece_percent, 1.5, 0);
        check(profile->virtual_device.hidden_khz && profile->virtual_device.no_cycles);
        check(profile->virtual_device.idle_lowers && profile->virtual_device.proc);
        check_int(profile->virtual_device.counters, VIRTUAL_COUNTERS_INSTRUCTIONS);
        check_near(profile->virtual_device.counter_share, 0.1, 0);
        check_near(profile->virtual_device.kind_residual, 0.055, 0);
        check_near(profile->virtual_device.kind_variation, 0.1, 0);
        check_near(profile->virtual_device.kind_variation_tau_s, 20, 0);
        check_int(profile->virtual_device.idle_states, IDLE_STATES_SHALLOW);
        check_near(profile->policies[0].spin_ipc, 1.25, 0);
        check_near(profile->policies[0].instruction_cycles, 0.27, 0);
        check_near(profile->policies[1].idle_share, 0.65, 0);
        check_near(value_of(profile, TERM_CPU_MISSES), 13, 0);
        check_int(profile->virtual_device.n_emission, 2);
        check_int(profile->virtual_device.emission[0].brightness, 5);
        check_near(profile->virtual_device.emission[1].power_mw, 1200, 0);
        check_near(profile->misfit_percent, 12.5, 0);
        check_near(value_of(profile, TERM_GPS), 350, 0);
        check_near(value_of(profile, TERM_GPS_SLEEP), 0, 0);
        check_near(value_of(profile, TERM_AUDIO), 60, 0);
        check_near(value_of(profile, TERM_CAMERA), 900, 0);
        check_text(profile_extra(profile, "gps", "x-note"), "near");
        for (enum answer_kind kind = 0; kind < ANSWER_COUNT; kind++) {
                const struct profile_score *score = &profile->learned.score[kind];

                check_near(profile_width(profile, kind), 1.1 + 0.1 * kind, 1e-12);
                check_near(score->scored, 9.5 - 2 * (int)kind, 0);
                check_near(score->held, 8.5 - 2 * (int)kind, 0);
        }
        check_near(profile->learned.score[ANSWER_BUDGET].likely, 2.5, 0);
        check_text(profile_extra(profile, "x-vendor", "x-note"), "kept");
        check_int(profile_find(profile, TERM_WIFI_RX, 0, 0, NULL), -ENOENT); /* not measured is not 0 */
        check(isnan(profile->coefficients[profile_find(profile, TERM_CPU_IDLE, 0, 384000, NULL)].standard_error));
        for (size_t i = 0; i < profile->n_coefficients; i++)
                check_int(profile_find_key(profile, profile_coefficient_key(&profile->coefficients[i], key)), i);
        profile_free(profile);
}

/* x- keys of sections that may have nothing else, and of those that have. */
static void extras_are_printed_again(void)
{
        static const char *const sections[] = { "app 3",   "app 9",      "disk", "disk nvme0n1",
                                                "learned", "covariance", "cpu 7" };
        static const char text[] = "[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 1\n[base]\npower_mw = 1 1\n"
                                   "[disk]\nread_mj_per_mb = 1\n[disk nvme0n1]\nread_mj_per_mb = 2\n"
                                   "[app 3]\nid = browser\ncpu = 0.1 0.1\n[learned]\nspans = 20\n";
        char *once = NULL, all[1024];
        struct profile *profile;

        strcpy(all, text);
        for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
                snprintf(all + strlen(all), sizeof(all) - strlen(all), "[%s]\nx-note = %zu\n", sections[i], i);
        for (int times = 0; times < 2; times++) {
                profile = parse(once ? once : all);
                for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
                        const char *note = profile_extra(profile, sections[i], "x-note");

                        check_int(note ? atoi(note) : -1, i);
                }
                free(once);
                once = NULL;
                check_int(profile_print(profile, &once), 0);
                profile_free(profile);
        }
        free(once);
        profile = parse(all);
        {
                struct profile *measured = NULL;

                check_int(profile_measured(profile, &measured), 0); /* where an app's number is another's */
                check(measured && !profile_extra(measured, "app 3", "x-note") &&
                      profile_extra(measured, "disk", "x-note"));
                profile_free(measured);
        }
        profile_free(profile);
}

/* Every number of [learned] is printed again, even if it is the only one. */
static void learned_is_printed_again(void)
{
        static const char *const keys[] = { "spans", "misfit_front_mw", "width", "predict_width", "budget_likely" };

        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                _cleanup_(profile_freep) struct profile *profile = NULL;
                _cleanup_free_ char *printed = NULL;
                char text[256];

                snprintf(text, sizeof(text), "[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 1\n"
                                             "[learned]\n%s = 2\n", keys[i]);
                profile = parse(text);
                check_int(profile_print(profile, &printed), 0);
                check(printed && strstr(printed, strstr(text, "[learned]")));
        }
}

/* [measured ...] sections and a radio's factor survive printing and parsing. */
static void measured_parts_are_printed_again(void)
{
        static const char text[] = "[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 20\n[battery]\n"
                                   "energy_full_mwh = 10000\n"
                                   "[gps]\non_mw = 300 10\n[radio cellular]\ninitial = idle\n"
                                   "[radio cellular idle]\npower_mw = 10 1\n"
                                   "[measured battery]\nenergy_full_mwh = 9000\n[measured gps]\non_mw = 310 5\n"
                                   "[measured cellular]\nradio = 1.1 0.1\n";
        struct profile *profile = NULL, *again = NULL;
        char *once = NULL, *twice = NULL;

        check_int(profile_parse(text, strlen(text), "t", NULL, &profile), 0);
        check_int(profile_print(profile, &once), 0);
        check(strstr(once, "\n[cellular]\nradio = 1 0.1\n")); /* the relative error of the radio's power */
        check_int(profile_parse(once, strlen(once), "t", NULL, &again), 0);
        check_int(profile_print(again, &twice), 0);
        check_text(twice, once);
        free(once);
        free(twice);
        profile_free(profile);
        profile_free(again);
}

static void round_trip_is_exact(void)
{
        struct profile *first = parse(full), *second;
        char *once = NULL, *again = NULL;

        check_int(profile_print(first, &once), 0);
        second = parse(once);
        check_int(profile_print(second, &again), 0);
        check_text(again, once);
        check_int(second->n_coefficients, first->n_coefficients);
        for (size_t i = 0; i < first->n_coefficients; i++) {
                check(second->coefficients[i].value == first->coefficients[i].value);
                check(isnan(first->coefficients[i].standard_error) ||
                      second->coefficients[i].standard_error == first->coefficients[i].standard_error);
                for (size_t j = 0; j < first->n_coefficients; j++)
                        check(isnan(profile_covariance(first, i, j)) ||
                              profile_covariance(first, i, j) == profile_covariance(second, i, j));
        }
        free(once);
        free(again);
        profile_free(first);
        profile_free(second);
}

static void grows_in_any_order(void)
{
        struct coefficient coefficients[] = {
                { .term = TERM_WIFI_ON, .value = 30, .standard_error = 3 },
                { .term = TERM_BASE, .value = 150, .standard_error = 4 },
                { .term = TERM_CPU_ACTIVE, .point = 384000, .value = 100, .standard_error = 5 },
        };
        struct profile *profile;

        check_int(profile_new("x", 1000, &profile), 0);
        check_int(profile_add(profile, &coefficients[0]), 0);
        check_int(profile_add(profile, &coefficients[1]), 0);
        profile_set_covariance(profile, 0, 1, 6);
        check_int(profile_add(profile, &coefficients[2]), 0);
        check_int(profile_add(profile, &coefficients[2]), -EEXIST);
        check_int(profile->coefficients[1].term, TERM_CPU_ACTIVE);
        check_near(profile_covariance(profile, 0, 2), 6, 0);
        check_near(profile_covariance(profile, 1, 1), 25, 0);
        check_near(profile_covariance(profile, 0, 1), 0, 0);
        profile_free(profile);
}

static void cut_anywhere_is_refused_or_whole_lines(void)
{
        size_t length = strlen(full);

        for (size_t cut = 0; cut < length; cut++) {
                struct profile *profile = NULL;
                int err = profile_parse(full, cut, "text", NULL, &profile);

                /* Only at the end of a line may a cut text pass: then it is a whole, smaller profile. */
                check(err == -EINVAL || full[cut - 1] == '\n');
                profile_free(profile);
        }
}

static void only_ids_that_a_file_gives_back(void)
{
        static const struct {
                const char *id;
                bool can;
        } ids[] = {
                { "firefox", true }, { "a=b", true }, { ";c", true }, { "a;b", true }, { "[x]", true }, { "a b", true },
                { "", false }, { " ", false }, { " a", false }, { "a ", false }, { "a ;b", false }, { "a\nb", false },
                { "\ta", false },
        };

        for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
                struct profile *profile = NULL, *again = NULL;
                char *text = NULL;

                check_int(profile_can_name(ids[i].id), ids[i].can);
                if (!ids[i].can)
                        continue;
                check_int(profile_new("", 1000, &profile), 0);
                check_int(profile_add_app(profile, 1, ids[i].id), 0);
                check_int(profile_print(profile, &text), 0);
                check_int(profile_parse(text, strlen(text), "text", NULL, &again), 0);
                check(again && profile_find_app(again, ids[i].id));
                free(text);
                profile_free(profile);
                profile_free(again);
        }
}

static const struct {
        const char *key, *words;
} in_words[] = {
        { "base.power_mw", "base" },
        { "cpu.0.active_mw.300000", "CPU 0-3 at 0.3 GHz, per core" },
        { "cpu.4.shared_mw.1248000", "CPU 4-7 at 1.248 GHz, shared" },
        { "cpu.4.idle_mw.1248000", "CPU 4-7 at 1.248 GHz, idle" },
        { "display.power_mw.128", "display at 50.2 %" },
        { "disk.sda.read_mj_per_mb", "disk sda, read" },
        { "disk.sda.write_mj_per_mb", "disk sda, written" },
        { "wifi.on_mw", "WiFi, connected" },
        { "wifi.wake_mj", "WiFi, per burst" },
        { "wifi.signal.70", "WiFi at -70 dBm" },
        { "gps.sleep_mw", "GPS, asleep" },
        { "suspend.power_mw", "suspended" },
        { "app.2.front_mw", "org.example.Chess, foreground" },
};

/* Words for people do not contain keys of the file. */
static void has_words(void)
{
        static const char text[] = "[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 9000\n[base]\npower_mw = 9\n"
                                   "[cpu 0]\ncpus = 0-3\nactive_mw.300000 = 1\n"
                                   "[cpu 4]\ncpus = 4-7\nactive_mw.1248000 = 1\nshared_mw.1248000 = 1\n"
                                   "idle_mw.1248000 = 1\n"
                                   "[display]\nmax_brightness = 255\npower_mw.128 = 1\n"
                                   "[disk sda]\nread_mj_per_mb = 1\nwrite_mj_per_mb = 1\n"
                                   "[wifi]\non_mw = 1\nwake_mj = 1\nsignal.70 = 0.1\n[gps]\nsleep_mw = 1\n"
                                   "[suspend]\npower_mw = 1\n[app 2]\nid = org.example.Chess\nfront_mw = 1 1\n";
        struct profile *profile;
        char words[COEFFICIENT_WORDS_MAX];

        check_int(profile_parse(text, strlen(text), "text", NULL, &profile), 0);
        for (size_t i = 0; i < ARRAY_SIZE(in_words); i++) {
                ssize_t at = profile_find_key(profile, in_words[i].key);

                check(at >= 0);
                if (at >= 0)
                        check_text(coefficient_words(profile, &profile->coefficients[at], words), in_words[i].words);
        }
        profile->max_brightness = 0;
        profile->policies[1].as = 0; /* like the other policy: one kind */
        check_text(coefficient_words(profile,
                                     &profile->coefficients[profile_find_key(profile,
                                                                             "display.power_mw.128")],
                                     words),
                   "display at brightness 128");
        check_text(coefficient_words(profile,
                                     &profile->coefficients[profile_find_key(profile,
                                                                             "cpu.0.active_mw.300000")],
                                     words),
                   "CPU at 0.3 GHz, per core");
        for (enum term term = 0; term < TERM_COUNT; term++) {
                const struct coefficient any = { .term = term, .policy = 2, .point = 300000 };

                coefficient_words(profile, &any, words);
                check(*words && !strchr(words, '_'));
                check(!strstr(words, "Chess") || (term >= TERM_APP_CPU && term <= TERM_APP_BEHIND));
        }
        profile_free(profile);
}

/* A comma as the decimal point of the user's locale changes nothing. */
static void is_independent_of_the_locale(void)
{
        static const char *const commas[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8" };

        for (size_t i = 0; i < ARRAY_SIZE(commas); i++)
                if (setlocale(LC_ALL, commas[i]))
                        break;
        extras_are_printed_again();
        learned_is_printed_again();
        measured_parts_are_printed_again();
        round_trip_is_exact();
        setlocale(LC_ALL, "C");
}

int main(void)
{
        reads_every_key();
        extras_are_printed_again();
        learned_is_printed_again();
        measured_parts_are_printed_again();
        round_trip_is_exact();
        grows_in_any_order();
        cut_anywhere_is_refused_or_whole_lines();
        only_ids_that_a_file_gives_back();
        has_words();
        is_independent_of_the_locale();
        return check_result();
}
