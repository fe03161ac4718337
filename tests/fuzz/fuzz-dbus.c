/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "dbus-answer.h"
#include "fuzz.h"
#include "invention.h"
#include "question.h"
#include "socket.h"
#include "util/util.h"

static double take_number(struct invention *from)
{
        double number = 0;

        for (size_t i = 0; i < sizeof(number); i++)
                ((uint8_t *)&number)[i] = take(from);
        return number;
}

/* A text of up to 64 kB that D-Bus accepts. */
static const char *take_text(struct invention *from)
{
        static char text[65536];
        size_t length = take(from), repeat = length == 255 ? 256 : 1, n = 0;

        for (size_t i = 0; i < length; i++) {
                uint8_t byte = take(from);

                for (size_t r = 0; r < repeat && n + 1 < sizeof(text); r++)
                        text[n++] = (char)(byte % 127 + 1);
        }
        text[n] = '\0';
        return text;
}

static int put_numbers(struct invention *from, sd_bus_message *call)
{
        int err = sd_bus_message_open_container(call, 'a', "{sd}");

        for (unsigned i = take(from); err >= 0 && i > 0; i--) {
                const char *name = take(from) % 2 ? "keep_percent" : take_text(from);

                err = sd_bus_message_append(call, "{sd}", name, take_number(from));
        }
        return err < 0 ? err : sd_bus_message_close_container(call);
}

static int put_texts(struct invention *from, sd_bus_message *call)
{
        int err = sd_bus_message_open_container(call, 'a', "s");

        for (unsigned i = take(from); err >= 0 && i > 0; i--)
                err = sd_bus_message_append(call, "s", take(from) % 2 ? "wifi" : take_text(from));
        return err < 0 ? err : sd_bus_message_close_container(call);
}

/* Appends arguments of the method's types, as sd-bus accepts only those. */
static int put_call(struct invention *from, sd_bus_message *call, unsigned kind)
{
        int err;

        if (kind == 1) {
                err = sd_bus_message_append(call, "s", take_text(from));
                return err < 0 ? err : sd_bus_message_append(call, "s", take_text(from));
        }
        if (kind == 2) {
                err = sd_bus_message_append(call, "s", take_text(from));
                return err < 0 ? err : sd_bus_message_append(call, "d", take_number(from));
        }
        if (kind == 6) {
                err = put_texts(from, call);
                err = err < 0 ? err : put_texts(from, call);
                return err < 0 ? err : put_numbers(from, call);
        }
        if (kind != 3)
                return 0;
        err = sd_bus_message_append(call, "s", take_text(from));
        err = err < 0 ? err : put_numbers(from, call);
        return err < 0 ? err : put_numbers(from, call);
}

static void check_question(sd_bus_message *call)
{
        char sentence[DBUS_SENTENCE_MAX], error[QUESTION_ERROR_MAX];
        struct question question = { 0 };
        char *text = NULL;
        int err = dbus_question(call, &text, sentence);

        if (err < 0) {
                fuzz_assert(err == -ENOMEM || *sentence);
                return;
        }
        fuzz_assert(strlen(text) < SERVICE_REQUEST_MAX && !strchr(text, '\n'));
        if (question_parse(text, strlen(text), &question, error) == 0)
                question_clear(&question);
        free(text);
}

/*
 * Calls of each method; and answers, which are as a service of another version or a damaged database could
 * make them.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const char *const methods[] = { "Apps",      "Cost",    "Predict", "Budget",
                                               "Remaining", "Nothing", "WhatIf",  "Advise" };
        struct invention from = { data + 1, size - 1, 0 };
        static sd_bus *bus;
        sd_bus_message *call = NULL;

        if (size == 0)
                return 0;
        if (!bus) { /* it need not lead anywhere */
                int fds[2];

                fuzz_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
                fuzz_assert(sd_bus_new(&bus) >= 0 && sd_bus_set_fd(bus, fds[0], fds[0]) >= 0 && sd_bus_start(bus) >= 0);
        }
        fuzz_assert(sd_bus_message_new_method_call(bus, &call, "org.joulecast1", "/org/joulecast1", "org.joulecast1",
                                                   methods[data[0] % ARRAY_SIZE(methods)]) >= 0);
        if (data[0] == '{') {
                char *text = strndup((const char *)data, size);

                (void)dbus_answer_append(call, text);
                free(text);
        } else if (put_call(&from, call, data[0] % ARRAY_SIZE(methods)) >= 0 && sd_bus_message_seal(call, 1, 0) >= 0) {
                check_question(call);
        }
        sd_bus_message_unref(call);
        return 0;
}
