/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <locale.h>
#include <stdlib.h>

#include "check.h"
#include "model/profile.h"
#include "util/util.h"

#define HEAD "[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 15000\n"

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

struct sentence {
        char text[1024];
        int count;
};

static void keep_sentence(void *data, enum log_level level, const char *text)
{
        struct sentence *sentence = data;

        (void)level;
        sentence->count++;
        snprintf(sentence->text, sizeof(sentence->text), "%s", text);
}

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
        static const char *const sections[] = { "app 3", "app 9", "disk", "disk nvme0n1", "learned", "covariance", "cpu 7" };
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
                check(measured && !profile_extra(measured, "app 3", "x-note") && profile_extra(measured, "disk", "x-note"));
                profile_free(measured);
        }
        profile_free(profile);
}

/* Every number of [learned] is printed again, also where it stands alone. */
static void learned_is_printed_again(void)
{
        static const char *const keys[] = { "spans", "misfit_front_mw", "width", "predict_width", "budget_likely" };

        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                _cleanup_(profile_freep) struct profile *profile = NULL;
                _cleanup_free_ char *printed = NULL;
                char text[256];

                snprintf(text, sizeof(text), "[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 1\n[learned]\n%s = 2\n", keys[i]);
                profile = parse(text);
                check_int(profile_print(profile, &printed), 0);
                check(printed && strstr(printed, strstr(text, "[learned]")));
        }
}

/* What was measured of each section, and a radio's factor. */
static void measured_parts_are_printed_again(void)
{
        static const char text[] = "[profile]\nversion = 1\n[fit]\ndegrees_of_freedom = 20\n[battery]\nenergy_full_mwh = 10000\n"
                                   "[gps]\non_mw = 300 10\n[radio cellular]\ninitial = idle\n[radio cellular idle]\npower_mw = 10 1\n"
                                   "[measured battery]\nenergy_full_mwh = 9000\n[measured gps]\non_mw = 310 5\n"
                                   "[measured cellular]\nradio = 1.1 0.1\n";
        struct profile *profile = NULL, *again = NULL;
        char *once = NULL, *twice = NULL;

        check_int(profile_parse(text, strlen(text), "t", NULL, &profile), 0);
        check_int(profile_print(profile, &once), 0);
        check(strstr(once, "\n[cellular]\nradio = 1 0.1\n")); /* the error of its power */
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

#define A20 "aaaaaaaaaaaaaaaaaaaa"
#define A180 A20 A20 A20 A20 A20 A20 A20 A20 A20

static const struct {
        const char *text;
        const char *sentence; /* what it must begin with */
} refused[] = {
        { HEAD "x-key = " A180 "\n", NULL }, /* 188 characters */
        { HEAD "x-key = a" A180 "\n", "text:5: the line has 189 characters; 188 are the most" },
        { HEAD "x-key=a" A180 "\n", "text:5: the line has 189 characters with blanks around" },
        { "", "text:1: the file is empty" },
        { HEAD, NULL },
        { HEAD "[base]\npower_mw = 1\r\n", NULL },
        { "    [profile]\n    version = 1\n\t[battery]\n    energy_full_mwh = 1 ; indented\n", NULL },
        { HEAD "[base]\npower_mw = 1\n  2\n", "text:7: this is neither" },
        { HEAD "[cpu 0]\ncpus =\n", "text:6: cpus =  is not a list" },
        { HEAD "[disk a23456789012345678901234567890123456789012345]\n", "text:5: the section's name is longer" },
        { HEAD "[x-34567890123456789012345678901234567890123456789]\n", NULL }, /* 49 are the most */
        { HEAD "[x-345678901234567890123456789012345678901234567890]\n", "text:5: the section's name is longer" },
        { "[profile]\nversion = 2\n", "text:2: this profile has version 2" },
        { "[battery]\nenergy_full_mwh = 15000\n", "text:2: [profile] with version = 1 is missing" },
        { "[profile]\nversion = 1\n", "text:2: energy_full_mwh of [battery] is missing" },
        { HEAD "[base]\npower = 3\n", "text:6: power is no key of [base]" },
        { HEAD "[bass]\npower_mw = 3\n", "text:6: [bass] is no section" },
        { HEAD "[base]\npower_mw = nan\n", "text:6: power_mw = nan is not a number" },
        { HEAD "[base]\npower_mw = 0x10\n", "text:6: power_mw = 0x10 is not a number" },
        { HEAD "[base]\npower_mw = 1e999\n", "text:6: power_mw = 1e999 is not a number" },
        { HEAD "[base]\npower_mw = -1\n", "text:6: power_mw = -1 is out of range" },
        { HEAD "[base]\npower_mw = 1 -1\n", "text:6: the standard error = -1 is out of range" },
        { HEAD "[base]\npower_mw = 1 2 3\n", "text:6: the standard error = 2 3 is not a number" },
        { HEAD "[base]\npower_mw = 1,5\n", "text:6: power_mw = 1,5 is not a number" },
        { HEAD "[base]\npower_mw = 1\npower_mw = 2\n", "text:7: base.power_mw is given twice" },
        { HEAD "energy_full_mwh = 1\n", "text:5: energy_full_mwh is given twice" },
        { HEAD "[base]\npower_mw = 150.0", "text:6: the last line does not end in a newline" },
        { HEAD "[base\n", "text:5: this is neither" },
        { HEAD "[base]\npower_mw\n", "text:6: this is neither" },
        { HEAD "[base]\npower_mw = \001\n", "text:6: this is not a text: byte 0x01" },
        { HEAD "[cpu]\nactive_mw.384000 = 1\n", "text:6: [cpu] is no section" },
        { HEAD "[cpu 0]\nactive_mw.0384000 = 1\n", "text:6: active_mw.0384000 is no key" },
        { HEAD "[cpu 0]\nactive_mw.0 = 1\n", "text:6: active_mw.0 is no key" },
        { HEAD "[cpu 0]\ncpus = 3-1\n", "text:6: cpus = 3-1 is not a list" },
        { HEAD "[cpu 0]\nactive_mw.384000 = 1\n[cpu 1]\nas = 0\n", NULL },
        { HEAD "[cpu 0]\nas = 0\n", "text:6: as = 0 is not the number of another" },
        { HEAD "[cpu 0]\nas = x\n", "text:6: as = x is not the number of another" },
        { HEAD "[cpu 0]\nas = 4\n", "text:6: as = 4: [cpu 4] has no coefficients" },
        { HEAD "[cpu 0]\nactive_mw.384000 = 1\n[cpu 1]\nas = 0\nas = 0\n", "text:9: as is given twice" },
        { HEAD "[cpu 0]\nactive_mw.384000 = 1\n[cpu 1]\nas = 0\nactive_mw.384000 = 2\n",
          "text:8: as = 0: [cpu 1] has coefficients" },
        { HEAD "[display]\nmax_brightness = 100\npower_mw.101 = 3\n", "text:7: power_mw.101 is above" },
        { HEAD "[fit]\nscale_percent = 101\n", "text:6: scale_percent = 101 is out of range" },
        { HEAD "[profile]\nmethod = guess\n", "text:6: method = guess is unknown" },
        { HEAD "[profile]\ncreated = yesterday\n", "text:6: created = yesterday is not a time" },
        { HEAD "[disk a,b]\nread_mj_per_mb = 3\n", "text:6: [disk a,b] is no section" },
        { HEAD "[covariance]\nbase.power_mw,wifi.on_mw = 1\n", "text:6: base.power_mw is no coefficient" },
        { HEAD "[base]\npower_mw = 1 1\n[wifi]\non_mw = 1 1\n[covariance]\nbase.power_mw,wifi.on_mw = 1.1\n",
          "text:10: the covariance is not positive" },
        { HEAD "[base]\npower_mw = 1 1\n[wifi]\non_mw = 1 1\n[covariance]\nbase.power_mw,wifi.on_mw = .1\n"
               "wifi.on_mw,base.power_mw = .1\n", "text:11: the pair" },
        { HEAD "[base]\npower_mw = 1 1\n[covariance]\nbase.power_mw,base.power_mw = 1\n", "text:8: the variance of" },
        { HEAD "[base]\npower_mw = 1\n[wifi]\non_mw = 1 1\n[covariance]\nbase.power_mw,wifi.on_mw = .1\n",
          "text:10: base.power_mw has a covariance, but no standard error" },
        { HEAD "[virtual]\nvoltage_mv.101 = 3300\n", "text:6: the state of charge of voltage_mv = 101" },
        { HEAD "[gps]\non_mw = -1\n", "text:6: on_mw = -1 is out of range" },
        { HEAD "[gps]\non_mw = 1\non_mw = 1\n", "text:7: gps.on_mw" },
        { HEAD "[gps]\nactive_mw = 1\n", "text:6: active_mw is no key of [gps]" },
        { HEAD "[audio]\nsleep_mw = 1\n", "text:6: sleep_mw is no key of [audio]" },
        { HEAD "[audio 1]\non_mw = 1\n", "text:6: [audio 1] is no section" },
        { HEAD "[virtual]\ngauge_pieces = 65\n", "text:6: gauge_pieces = 65 is not a whole number from 0 to 64" },
        { HEAD "[virtual]\ngauge_pieces = 1.5\n", "text:6: gauge_pieces = 1.5 is not a whole number" },
        { HEAD "[virtual]\ngauge_piece_percent = nan\n", "text:6: gauge_piece_percent = nan" },
        { HEAD "[virtual]\nradio_variation = -0.1\n", "text:6: radio_variation = -0.1 is out of range" },
        { HEAD "[virtual]\nradio_variation_tau_s = 1e7\n", "text:6: radio_variation_tau_s = 1e7 is out of range" },
        { HEAD "[virtual]\ncharge_full_error_percent = -100\n", "text:6: charge_full_error_percent = -100 is out" },
        { HEAD "[virtual]\ngovernor = idle\n", "text:6: governor = idle is unknown; it may be idle-lowers" },
        { HEAD "[virtual]\ncollector = bpf\n", "text:6: collector = bpf is unknown; it may be proc" },
        { HEAD "[virtual]\nfrequencies = none\n", "text:6: frequencies = none is unknown; it may be hidden" },
        { HEAD "[virtual]\nfrequencies = hidden\nfrequencies = hidden\n", "text:7: frequencies is given twice" },
        { HEAD "[virtual]\ncycles = hidden\n", "text:6: cycles = hidden is unknown; it may be none" },
        { HEAD "[virtual]\ncollector = proc\ncollector = proc\n", "text:7: collector is given twice" },
        { HEAD "[display]\nemission_mw.5 = -1\n", "text:6: emission_mw.5 = -1 is out of range" },
        { HEAD "[display]\nemission_mw.05 = 1\n", "text:6: emission_mw.05: the part after the dot is a brightness" },
        { HEAD "[display]\nemission_mw.5 = 1\nemission_mw.5 = 2\n", "text:7: emission_mw.5 is given twice" },
        { HEAD "[display]\nemission_mw.101 = 3\nmax_brightness = 100\n", "text:6: emission_mw.101 is above" },
        { HEAD "[display]\nemission_mw.5 = 3\n", NULL }, /* without [virtual] it means nothing, and is kept */
        { HEAD "[virtual]\nsed = 1\n", "text:6: sed is no key of [virtual]" },
        { HEAD "[app 1]\nid = a\ncpu = -1 1\ndisplay = -0.5 1\n", NULL },
        { HEAD "[cpu 0]\nactive_mw.1000 = 1 1\n[cpu 7]\nas = 0\n[app 7]\nid = a\ncpu = 0.1 1\n", NULL },
        { HEAD "[app 1]\nid = a\ncpu = -1.1 1\n", "text:7: cpu = -1.1 is out of range" },
};

static void refuses_with_one_sentence(void)
{
        for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
                struct sentence sentence = { 0 };
                struct log log = { keep_sentence, &sentence };
                struct profile *profile = NULL;
                int err = profile_parse(refused[i].text, strlen(refused[i].text), "text", &log, &profile);

                if (!refused[i].sentence) {
                        check_int(err, 0);
                        check_int(sentence.count, 0);
                } else {
                        check_int(err, -EINVAL);
                        check_int(sentence.count, 1);
                        check(!profile);
                        sentence.text[strlen(refused[i].sentence)] = '\0';
                        check_text(sentence.text, refused[i].sentence);
                }
                profile_free(profile);
        }
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

static void long_lines_are_refused(void)
{
        char text[sizeof(HEAD) + 600];
        struct profile *profile = NULL;

        snprintf(text, sizeof(text), "%s[x-a]\nx-long = %0200d\n", HEAD, 1);
        check_int(profile_parse(text, strlen(text), "text", NULL, &profile), -EINVAL);
        snprintf(text, sizeof(text), "%s[x-a]\nx-long = %0170d\n", HEAD, 1);
        check_int(profile_parse(text, strlen(text), "text", NULL, &profile), 0);
        profile_free(profile);
}

/* What a profile holds is bounded, and one more is refused where it stands. */
static void too_many_are_refused(void)
{
        char text[sizeof(HEAD) + 513 * sizeof("power_mw.512 = 1\n")];
        struct sentence sentence = { 0 };
        struct log log = { keep_sentence, &sentence };
        struct profile *profile = NULL;
        size_t n = (size_t)snprintf(text, sizeof(text), "%s[display]\nmax_brightness = 1000\n", HEAD);

        for (int i = 1; i <= 512; i++)
                n += (size_t)snprintf(text + n, sizeof(text) - n, "power_mw.%d = 1\n", i);
        check_int(profile_parse(text, n, "text", &log, &profile), 0);
        profile_free(profile);
        profile = NULL;
        n += (size_t)snprintf(text + n, sizeof(text) - n, "power_mw.513 = 1\n");
        check_int(profile_parse(text, n, "text", &log, &profile), -EINVAL);
        check_text(sentence.text, "text:519: more than 512 coefficients");
        check(!profile);
}

/* Each is looked for among all others. */
static void too_many_apps_are_refused(void)
{
        char text[sizeof(HEAD) + (PROFILE_APPS_MAX + 1) * sizeof("[app 512]\nid = a512\n")];
        struct sentence sentence = { 0 };
        struct log log = { keep_sentence, &sentence };
        struct profile *profile = NULL;
        size_t n = (size_t)snprintf(text, sizeof(text), HEAD);

        for (int i = 0; i < PROFILE_APPS_MAX; i++)
                n += (size_t)snprintf(text + n, sizeof(text) - n, "[app %d]\nid = a%d\n", i, i);
        check_int(profile_parse(text, n, "text", &log, &profile), 0);
        profile_free(profile);
        profile = NULL;
        n += (size_t)snprintf(text + n, sizeof(text) - n, "[app %d]\nid = a\n", PROFILE_APPS_MAX);
        check_int(profile_parse(text, n, "text", &log, &profile), -EINVAL);
        check_text(sentence.text, "text:1030: more than 512 apps");
        check(!profile);
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
        round_trip_is_exact();
        grows_in_any_order();
        refuses_with_one_sentence();
        cut_anywhere_is_refused_or_whole_lines();
        long_lines_are_refused();
        too_many_are_refused();
        too_many_apps_are_refused();
        only_ids_that_a_file_gives_back();
        is_independent_of_the_locale();
        return check_result();
}
