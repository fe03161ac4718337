/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "moment.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"
#include "util/words.h"
#include "values.h"

static const struct {
        const char *word;
        enum joulecast_event event;
        const char *never;
} words[] = {
        { "full", JOULECAST_SINCE_FULL, N_("the battery was never full in what is recorded") },
        { "unplug", JOULECAST_SINCE_UNPLUG, N_("external power was never unplugged in what is recorded") },
        { "boot", JOULECAST_SINCE_BOOT, N_("the time of the boot is known for this machine only") },
        { "resume", JOULECAST_SINCE_RESUME, N_("no suspend is recorded") },
};

int moment_parse(const char *text, int64_t now_ns, struct moment *ret)
{
        struct moment moment = { .ns = now_ns };
        int err;

        for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
                if (strcmp(text, words[i].word) != 0)
                        continue;
                moment.word = words[i].word;
                *ret = moment;
                return 0;
        }
        err = values_parse_time(text, now_ns, &moment.ns);
        if (!err)
                *ret = moment;
        return err;
}

int moment_find(struct joulecast_usage *usage, struct moment *moment, char *sentence, size_t size)
{
        for (size_t i = 0; moment->word && i < ARRAY_SIZE(words); i++) {
                int err;

                if (strcmp(moment->word, words[i].word) != 0)
                        continue;
                err = joulecast_usage_since(usage, words[i].event, &moment->ns);
                snprintf(sentence, size, "%s", err == -ENODATA ? _(words[i].never) : "");
                if (err < 0)
                        return err;
                moment->word = NULL;
        }
        return 0;
}
