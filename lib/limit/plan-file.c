/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan-file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/ini-text.h"
#include "util/text.h"
#include "util/util.h"

#define FILE_MAX (16 << 10)

const char *const plan_states[PLAN_STATES] = {
        [PLAN_WISHED] = "wished", [PLAN_MAKING] = "making", [PLAN_MADE] = "made", [PLAN_SAME] = "same",
                [PLAN_FAILED] = "failed",
};

static int find_state(const char *word)
{
        for (int state = 0; state < PLAN_STATES; state++)
                if (strcmp(word, plan_states[state]) == 0)
                        return state;
        return -EINVAL;
}

/* A word without blanks, like all bus names, numbers and profiles. */
static bool is_value(const char *text)
{
        size_t length = strlen(text);

        if (length == 0 || length >= PLAN_VALUE_MAX)
                return false;
        for (; *text; text++)
                if (*text <= ' ' || *text > '~')
                        return false;
        return true;
}

/* "KIND STATE VALUE OLD APP"; an app's id may have blanks. */
static void read_change(struct plan_file *plan, char *line)
{
        struct plan_change change = { 0 };
        char *rest = NULL, *words[4];
        int kind, state;

        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                words[i] = strtok_r(i == 0 ? line : NULL, " ", &rest);
        if (!words[3] || plan->n == PLAN_CHANGES_MAX)
                return;
        kind = endure_kind(words[0]);
        state = find_state(words[1]);
        if (kind < 0 || state < 0 || !is_value(words[2]) || !is_value(words[3]) || (rest && strlen(rest) >= APP_ID_MAX))
                return;
        change.kind = (enum endure_kind)kind;
        change.state = (enum plan_state)state;
        snprintf(change.value, sizeof(change.value), "%s", words[2]);
        snprintf(change.old, sizeof(change.old), "%s", words[3]);
        util_printable(rest ? rest : "", change.app, sizeof(change.app));
        if ((change.kind == ENDURE_LIMIT) == (*change.app != '\0'))
                plan->list[plan->n++] = change;
}

void plan_file_parse(char *text, struct plan_file *ret)
{
        char *rest = NULL;

        *ret = (struct plan_file){ 0 };
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                if (strncmp(line, "until ", 6) == 0)
                        ret->until_ns = strtoll(line + 6, NULL, 10);
                else
                        read_change(ret, line);
        }
}

int plan_file_read(const char *path, struct plan_file *ret)
{
        const struct log quiet = { 0 };
        _cleanup_free_ char *text = NULL;
        size_t length;
        int err = ini_text_read(path, FILE_MAX, &quiet, &text, &length);

        if (!err)
                plan_file_parse(text, ret);
        return err;
}

int plan_file_write(const char *path, const struct plan_file *plan)
{
        _cleanup_free_ char *text = NULL;
        struct text_kept kept;
        FILE *file = text_open(&kept);

        if (!file)
                return -ENOMEM;
        fprintf(file, "until %lld\n", (long long)plan->until_ns);
        for (size_t i = 0; i < plan->n; i++)
                fprintf(file, "%s %s %s %s %s\n", endure_words[plan->list[i].kind], plan_states[plan->list[i].state],
                        plan->list[i].value, plan->list[i].old, plan->list[i].app);
        text = text_close(file, &kept);
        return text ? util_write_file(path, text, strlen(text), 0600) : -ENOMEM;
}
