/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Invalid profiles, each refused with one message that has the place and the reason, and the largest valid ones. */

#include <errno.h>

#include "check.h"
#include "model/profile.h"
#include "util/util.h"

#define HEAD "[profile]\nversion = 1\n[battery]\nenergy_full_mwh = 15000\n"

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

#define A20 "aaaaaaaaaaaaaaaaaaaa"
#define A180 A20 A20 A20 A20 A20 A20 A20 A20 A20

static const struct {
        const char *text;
        const char *sentence; /* beginning of the expected message; NULL: the text is accepted */
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
        { HEAD "[x-34567890123456789012345678901234567890123456789]\n", NULL }, /* at most 49 characters */
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
        { HEAD "[virtual]\ncounters = some\n",
          "text:6: counters = some is unknown; it may be all, instructions or none" },
        { HEAD "[virtual]\ncounters = none\n", NULL },
        { HEAD "[virtual]\ncounter_share = 1.5\n", "text:6: counter_share = 1.5 is out of range" },
        { HEAD "[virtual]\ncounter_share = 0.5\n", "text:6: counter_share of [virtual] needs counters = all" },
        { HEAD "[virtual]\nkind_residual = -1\n", "text:6: kind_residual = -1 is out of range" },
        { HEAD "[virtual]\nkind_variation = 0.1\n", "text:6: kind_variation of [virtual] needs kind_variation_tau_s" },
        { HEAD "[virtual]\nidle_states = none\n", "text:6: idle_states = none is unknown; it may be deep or shallow" },
        { HEAD "[virtual]\n[cpu 0]\nidle_share = 0.91\n", "text:7: idle_share = 0.91 is out of range" },
        { HEAD "[virtual]\n[cpu 0]\nspin_ipc = 0\n", "text:7: spin_ipc = 0 is out of range" },
        { HEAD "[virtual]\n[cpu 0]\nspin_ipc = 1\nspin_ipc = 1\n", "text:8: spin_ipc is given twice" },
        { HEAD "[virtual]\n[cpu 0]\ninstruction_cycles = nan\n", "text:7: instruction_cycles = nan" },
        { HEAD "[virtual]\nseed = 1\n[cpu 0]\nidle_share = 0.1\nidle_mw.1000 = 3\n",
          "text:8: [cpu 0] has idle_share and idle_mw" },
        { HEAD "[cpu 0]\ninstruction_cycles = 1\n", "text:6: spin_ipc, instruction_cycles and idle_share" },
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

/* The number of coefficients is limited, and the message about one more has its line. */
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

/* The number of apps is limited, as each is compared with all others. */
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

int main(void)
{
        refuses_with_one_sentence();
        long_lines_are_refused();
        too_many_are_refused();
        too_many_apps_are_refused();
        return check_result();
}
