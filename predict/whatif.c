/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast whatif`: how much longer the battery lasts with a change. */

#include "whatif.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "api/answer-fields.h"
#include "ask.h"
#include "commands.h"
#include "names.h"
#include "program.h"
#include "util/table.h"
#include "util/text.h"
#include "util/util.h"
#include "util/words.h"

struct asked {
        struct joulecast_change *change;
        double keep_minutes;
        bool changes;
};

static void asked_clear(struct asked *asked)
{
        joulecast_change_free(asked->change);
}

static int take_off(struct asked *asked, enum joulecast_part part)
{
        asked->changes = true;
        return joulecast_change_off(asked->change, part);
}

/* "40", "40%" or "off". */
static int take_brightness(const char *text, void *data)
{
        struct asked *asked = data;
        _cleanup_free_ char *number = strdup(text);
        size_t length = strlen(text);
        double percent;

        if (!number)
                return -ENOMEM;
        if (strcmp(text, "off") == 0)
                return take_off(asked, JOULECAST_PART_SCREEN);
        if (length > 0 && number[length - 1] == '%')
                number[length - 1] = '\0';
        if (util_parse_double(number, &percent) < 0)
                return -EINVAL;
        asked->changes = true;
        return joulecast_change_brightness(asked->change, percent) < 0 ? -ERANGE : 0;
}

static int take_close(const char *text, void *data)
{
        struct asked *asked = data;

        asked->changes = true;
        return joulecast_change_close(asked->change, text);
}

static int print_answer(const struct options *options, const struct asked *asked, const struct joulecast_gain *gain)
{
        struct joulecast_value before = joulecast_gain_before(gain), after = joulecast_gain_after(gain);
        char sentence[512], minutes[96], other[96], name[256];
        _cleanup_free_ char *text = NULL;
        struct text_kept kept;
        FILE *stream = text_open(&kept);

        if (!stream)
                return CODE_FAILED;
        for (size_t i = 0; joulecast_gain_app(gain, i); i++)
                fprintf(stream, "%s%s", i ? ", " : "",
                        names_of(options, joulecast_gain_app(gain, i), name, sizeof(name)));
        text = text_close(stream, &kept);
        if (!text)
                return CODE_FAILED;
        table_text(TABLE_HEAD, "%s", whatif_sentence(gain, sentence, sizeof(sentence)));
        if (!joulecast_gain_is_nothing(gain) && !isnan(after.value))
                table_text(TABLE_PLAIN, "From %.3g %%: %s with it, %s without.", joulecast_gain_battery_percent(gain),
                           whatif_minutes(after, minutes), whatif_minutes(before, other));
        if (*text)
                table_text(TABLE_PLAIN, "Closed: %s.", text);
        if (!isnan(asked->keep_minutes))
                table_text(TABLE_PLAIN, "The change lasts for %s; after that everything is as now.",
                           ask_minutes(asked->keep_minutes, 0, minutes));
        putchar('\n');
        if (!isnan(joulecast_gain_minutes(gain).low) && !joulecast_gain_is_nothing(gain))
                table_note("The range in brackets holds 9 times in 10, if use otherwise goes on as now.");
        table_note("From %s.", joulecast_gain_basis(gain));
        return CODE_OK;
}

static int answer(const struct options *options, const struct asked *asked)
{
        _cleanup_(ask_close) struct ask ask = { 0 };
        struct joulecast_gain *gain = NULL;
        int code = ask_open(options, &ask), err;

        if (code != CODE_OK)
                return code;
        err = joulecast_gain_new(ask.profile, ask.usage, asked->change, &gain);
        if (err < 0)
                code = ask_failed(err);
        else
                code = options->json ? answer_print_json(answer_json(gain_fields, &gain->gain, ask.profile->profile))
                                     : print_answer(options, asked, gain);
        if (err == 0 && code == CODE_OK && !options->json)
                answer_note_basis(ask.profile->profile);
        joulecast_gain_free(gain);
        return code;
}

static int check(const struct asked *asked, const char *run)
{
        char printable[64];

        if (run) {
                log_error(&program_log, "%s is no run of joulecast emulate -o; without one, whatif answers "
                          "for this device as it is now",
                          util_printable(run, printable, sizeof(printable)));
                return CODE_USAGE;
        }
        if (!asked->changes) {
                log_error(&program_log, "there is no change; use --brightness, --close, --wifi off and "
                          "others, as in joulecast whatif --help");
                return CODE_USAGE;
        }
        return CODE_OK;
}

/* Is the word a run of `joulecast emulate -o`? Then joulecast-develop answers. */
static bool is_run(const char *word)
{
        _cleanup_free_ char *path = NULL;

        return *word != '-' && asprintf(&path, "%s/run.json", word) >= 0 && access(path, F_OK) == 0;
}

int whatif_main(int argc, char **argv)
{
        _cleanup_(asked_clear) struct asked asked = { .keep_minutes = NAN };
        const char *run = NULL, *wifi = NULL, *cellular = NULL, *gps = NULL, *audio = NULL;
        double keep_minutes = NAN, battery_percent = NAN;
        const struct option_row rows[] = {
                { "brightness", "N%", N_("set the screen to N percent of its greatest brightness, or off"),
                  .parse = take_brightness, .data = &asked, .wants = N_("a brightness like 40%, or off"),
                  .range = N_("from 0 to 100 %") },
                { "close", "APP", N_("close this app; may be given several times"), .parse = take_close,
                  .data = &asked, .wants = N_("an app"), .range = N_("at most 16 apps") },
                { "wifi", "off", N_("no traffic over WiFi"), .text = &wifi, .words = "off" },
                { "cellular", "off", N_("no traffic over a modem"), .text = &cellular, .words = "off" },
                { "gps", "off", N_("no app uses the GPS"), .text = &gps, .words = "off" },
                { "audio", "off", N_("no sound is played"), .text = &audio, .words = "off" },
                { "keep", "2h", N_("how long the change lasts; after that everything is as now"),
                  OPTION_MINUTES(&keep_minutes) },
                { "battery-percent", "N", N_("answer as if the battery had this charge"),
                  .number = &battery_percent, .high = 100, .unit = "%" },
        };
        const struct option_table command = {
                .called = "joulecast whatif",
                .usage = "joulecast whatif [--brightness N%|off] [--close APP]... [--wifi off]\n"
                         "                 [--cellular off] [--gps off] [--audio off] [--keep 2h]\n"
                         "joulecast whatif RUN [--brightness N%] [--signal WHICH] [--carrier NAME]\n"
                         "                 [--target NAME] [--battery MWH]",
                .about = N_("How much longer the battery lasts with a change, if use otherwise goes on as now (as "
                            "in joulecast budget without an app). The range in brackets holds 9 times in 10. If an "
                            "app is closed, the screen stays on without it.\n"
                            "\n"
                            "With RUN, a folder of joulecast emulate -o: what that run would have cost with another "
                            "brightness, signal, carrier, target or battery."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows), .words = &run, .max_words = 1,
        };
        struct options options = { 0 };
        int code;

        if (argc > 1 && is_run(argv[1]))
                return program_become("whatif", "develop", "joulecast-develop", "whatif", argv);
        if (joulecast_change_new(&asked.change) < 0)
                return CODE_FAILED;
        code = options_parse(&command, SHARED_ASK, argc, argv, &options);
        if (code >= 0)
                return code;
        if (wifi)
                take_off(&asked, JOULECAST_PART_WIFI);
        if (cellular)
                take_off(&asked, JOULECAST_PART_CELLULAR);
        if (gps)
                take_off(&asked, JOULECAST_PART_GPS);
        if (audio)
                take_off(&asked, JOULECAST_PART_AUDIO);
        asked.keep_minutes = keep_minutes;
        if (!isnan(keep_minutes))
                joulecast_change_keep(asked.change, keep_minutes);
        if (!isnan(battery_percent))
                joulecast_change_battery(asked.change, battery_percent);
        code = check(&asked, run);
        return code == CODE_OK ? answer(&options, &asked) : code;
}
