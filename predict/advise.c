/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast advise`: the few changes that gain most now, or the fewest with which the charge lasts. */

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "advised.h"
#include "answer.h"
#include "api/joulecast-private.h"
#include "commands.h"
#include "endure.h"
#include "live.h"
#include "until.h"
#include "util/table.h"
#include "util/util.h"
#include "util/words.h"

static int print_advice(const struct options *options, const struct advised *advised)
{
        char line[512];

        if (advised->found.n == 0)
                table_text(TABLE_PLAIN, "No change that is known here gains a minute or more, 19 times in 20.");
        for (size_t i = 0; i < advised->found.n; i++) {
                table_text(i == 0 ? TABLE_HEAD : TABLE_PLAIN, "%zu. %s", i + 1,
                           advised_print(options, &advised->found.list[i], line));
                if (advised->commands[i])
                        printf("   %s\n", advised->commands[i]);
        }
        if (advised->found.n == 0)
                return CODE_OK;
        putchar('\n');
        table_note("Each change by itself, if use otherwise goes on as now; the range in brackets holds 9 times in "
                   "10. joulecast whatif shows what several gain together.");
        return CODE_OK;
}

static int take_until(const char *text, void *data)
{
        return until_parse(text, values_now_ns(), data);
}

static int take_without(const char *text, void *data)
{
        struct endure_asked *asked = data;

        if (!*text)
                return -EINVAL;
        if (asked->n_without == ENDURE_WITHOUT_MAX)
                return -E2BIG;
        asked->without[asked->n_without++] = text;
        return 0;
}

int advise_main(int argc, char **argv)
{
        struct endure_asked asked = ENDURE_ASKED_NONE;
        const struct option_row rows[] = {
                { "until", "18:00", N_("list the fewest changes with which the charge lasts until this time, 19 "
                                       "times in 20"),
                  .parse = take_until, .data = &asked.until_ns, .wants = N_("a time like 18:00 or 2026-11-20T18:00"),
                  .range = N_("later than now, and within 1000000 minutes") },
                { "for", "3h", N_("the same, for a time from now on"), OPTION_MINUTES(&asked.for_minutes) },
                { "app", "APP", N_("this app is in the foreground all that time; without it use goes on as now"),
                  .text = &asked.app },
                { "without", "WHAT", N_("leave out a kind of change (brightness, limit, cellular_off, wifi_off, "
                                        "close, power_profile), an app, or limit:APP or close:APP; may be given "
                                        "several times"),
                  .parse = take_without, .data = &asked, .wants = N_("a change or an app"), .range = N_("at most 32") },
                { "apply", NULL, N_("ask, then make those changes that can be undone; they are undone at the end of "
                                    "that time"),
                  .flag = &asked.apply },
                { "undo", NULL, N_("undo the changes of --apply now"), .flag = &asked.undo },
        };
        const struct option_table command = {
                .called = "joulecast advise",
                .usage = "joulecast advise\n"
                         "joulecast advise --until 18:00|--for 3h [--app APP] [--without WHAT]...\n"
                         "                 [--apply [--yes]]\n"
                         "joulecast advise --undo",
                .about = N_("The few changes that gain most now, each with the minutes that it gains and the command "
                            "that makes it: closing an app, halving the brightness, switching WiFi or a modem off. "
                            "Changes that gain less than a minute, or perhaps nothing, are left out. Without --apply "
                            "nothing is changed.\n"
                            "\n"
                            "With --until or --for: the fewest changes with which the charge lasts so long, 19 "
                            "times in 20, or how many minutes are missing even with them. With --apply "
                            "joulecast-focus makes those changes that it can undo. It undoes them at the end of "
                            "that time, or before it when external power comes, at logout or after a crash."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
        };
        _cleanup_(ask_close) struct ask ask = { 0 };
        _cleanup_(advised_clear) struct advised advised = { 0 };
        struct options options = { 0 };
        bool wants = false;
        int code = options_parse(&command, SHARED_ASK | SHARED_YES, argc, argv, &options), err;

        if (code >= 0)
                return code;
        code = endure_check(&asked, &wants);
        if (code != CODE_OK)
                return code;
        if (wants && !live.thrifty_profile)
                return live_become("advise", argv);
        if (wants)
                return endure_answer(&options, &asked);
        code = ask_open(&options, &ask);
        if (code != CODE_OK)
                return code;
        err = advised_make(&ask, &advised);
        if (err < 0)
                return ask_failed(err);
        if (options.json)
                return answer_print_json(answer_advice_json(&advised.found, advised.commands, ask.profile->profile));
        code = print_advice(&options, &advised);
        if (code == CODE_OK)
                answer_note_basis(ask.profile->profile);
        return code;
}
