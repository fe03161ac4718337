/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast advise`: the few changes that gain most now. */

#include <errno.h>
#include <stdio.h>

#include "advised.h"
#include "answer.h"
#include "api/joulecast-private.h"
#include "commands.h"
#include "util/table.h"
#include "util/util.h"
#include "util/words.h"

static int print_advice(const struct options *options, const struct advised *advised)
{
        char line[512];

        if (advised->n == 0)
                table_text(TABLE_PLAIN, "Nothing that is known here gains a minute or more for sure.");
        for (size_t i = 0; i < advised->n; i++) {
                table_text(i == 0 ? TABLE_HEAD : TABLE_PLAIN, "%zu. %s", i + 1,
                           advised_print(options, &advised->list[i], line));
                if (advised->commands[i])
                        printf("   %s\n", advised->commands[i]);
        }
        if (advised->n == 0)
                return CODE_OK;
        putchar('\n');
        table_note("Each change by itself, if use goes on as now otherwise; the range in brackets holds in 90 of 100 cases. joulecast whatif "
                   "tells what several gain together.");
        return CODE_OK;
}

int advise_main(int argc, char **argv)
{
        const struct option_table command = {
                .called = "joulecast advise",
                .usage = "joulecast advise",
                .about = N_("Which few changes gain most now, each with the minutes that it gains and the\n"
                         "command that makes it: to close an app, to halve the brightness, to switch\n"
                         "WiFi or a modem off. What gains less than a minute, or perhaps nothing, is\n"
                         "left out. Nothing is changed."),
        };
        _cleanup_(ask_close) struct ask ask = { 0 };
        _cleanup_(advised_clear) struct advised advised = { 0 };
        struct options options = { 0 };
        int code = options_parse(&command, SHARED_ASK, argc, argv, &options), err;

        if (code >= 0)
                return code;
        code = ask_open(&options, &ask);
        if (code != CODE_OK)
                return code;
        err = advised_make(&ask, &advised);
        if (err < 0)
                return ask_failed(err);
        if (options.json)
                return answer_print_json(answer_advice_json(advised.list, advised.n, advised.commands, ask.profile->profile));
        code = print_advice(&options, &advised);
        if (code == CODE_OK)
                answer_note_basis(ask.profile->profile);
        return code;
}
