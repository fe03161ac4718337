/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Handles calls with a question: each waits for its turn among the questions of the socket. */

#include <errno.h>
#include <string.h>

#include "api/service.h"
#include "dbus-answer.h"
#include "dbus-private.h"
#include "util/util.h"

#define CALLS_OF_ONE 4 /* most calls per sender; calls per user are counted with the questions */

int dbus_refuse(sd_bus_message *message, int err, const char *sentence)
{
        char name[64];

        snprintf(name, sizeof(name), DBUS_ERROR "%s", service_error_name(err));
        return sd_bus_reply_method_errorf(message, name, "%s", sentence);
}

struct dbus_call *dbus_call_begin(struct dbus *dbus, struct dbus_call *calls, size_t n, sd_bus_message *message)
{
        const char *sender = sd_bus_message_get_sender(message);
        struct dbus_call *place = NULL;
        unsigned of_sender = 0;

        if (!sender)
                return NULL;
        for (size_t i = 0; i < n; i++) {
                if (!calls[i].message)
                        place = &calls[i];
                else
                        of_sender += strcmp(sd_bus_message_get_sender(calls[i].message), sender) == 0;
        }
        if (!place || of_sender >= CALLS_OF_ONE)
                return NULL;
        *place = (struct dbus_call){ .dbus = dbus, .message = sd_bus_message_ref(message) };
        return place;
}

void dbus_call_end(struct dbus_call *call)
{
        call->slot = sd_bus_slot_unref(call->slot);
        call->message = sd_bus_message_unref(call->message);
        free(call->question);
        call->question = NULL;
}

static int send_answer(sd_bus_message *call, const char *answer)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        int err = dbus_answer_refuse(call, answer);

        if (err != 0)
                return err;
        err = sd_bus_message_new_method_return(call, &reply);
        if (err >= 0)
                err = dbus_answer_append(reply, answer);
        return err < 0 ? err : sd_bus_send(NULL, reply, NULL);
}

static void on_answer(void *data, const char *answer)
{
        struct dbus_call *call = data;
        int err = answer ? send_answer(call->message, answer) : -ENOMEM;

        if (err < 0)
                (void)dbus_refuse(call->message, err, err == -ENOMEM ? "the service is out of memory" :
                                  "the answer cannot be sent");
        dbus_call_end(call);
}

static int end_refused(struct dbus_call *call, int err)
{
        (void)dbus_refuse(call->message, err,
                          err == -EBUSY ? "the service is busy with other questions of yours; ask again" :
                                                              "the bus does not say who asks; ask again");
        dbus_call_end(call);
        return 1;
}

static int on_user(sd_bus_message *reply, void *data, sd_bus_error *error)
{
        struct dbus_call *call = data;
        uint32_t uid;
        int err = sd_bus_message_read(reply, "u", &uid);

        if (sd_bus_message_get_error(reply) || err <= 0)
                return end_refused(call, -EACCES);
        err = answers_ask(call->dbus->answers, uid, call->question, on_answer, call);
        if (err < 0)
                return end_refused(call, err);
        free(call->question);
        call->question = NULL;
        return 1;
}

/*
 * Only the bus knows the sender's user. The reply is not waited for, as incoming messages would accumulate
 * meanwhile.
 */
static int ask_user(struct dbus_call *call)
{
        return sd_bus_call_method_async(call->dbus->bus, &call->slot, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                        "org.freedesktop.DBus", "GetConnectionUnixUser", on_user, call, "s",
                                        sd_bus_message_get_sender(call->message));
}

int dbus_on_ask(sd_bus_message *message, void *data, sd_bus_error *error)
{
        _cleanup_free_ char *question = NULL;
        char sentence[DBUS_SENTENCE_MAX];
        struct dbus *dbus = data;
        struct dbus_call *call;
        int err;

        if (sd_bus_message_get_expect_reply(message) <= 0)
                return 1;
        err = dbus_question(message, &question, sentence);
        if (err < 0)
                return dbus_refuse(message, err, err == -ENOMEM ? "the service is out of memory" : sentence);
        call = dbus_call_begin(dbus, dbus->calls, DBUS_CALLS_MAX, message);
        if (!call)
                return dbus_refuse(message, -EBUSY, "the service is busy with other questions; ask again");
        call->question = TAKE_PTR(question);
        err = ask_user(call);
        return err < 0 ? end_refused(call, err) : 1;
}
