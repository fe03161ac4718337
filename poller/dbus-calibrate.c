/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Calibrate: polkit decides whether the caller may do it, and systemd starts joulecast-calibrate.service. The
 * service has no privileges for either: it asks polkit about the sender, and a polkit rule allows it to start
 * this one unit (docs/security.md).
 */

#include <errno.h>

#include "dbus-answer.h"
#include "dbus-private.h"
#include "util/util.h"

#define POLKIT                                                                                               \
        "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority", "org.freedesktop.PolicyKit1.Authority"
#define MANAGER "org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"
#define ACTION DBUS_NAME ".calibrate"
#define UNIT "joulecast-calibrate.service"
#define INTERACTION 1u         /* CheckAuthorizationFlags: the user may be asked for a password */
#define PASSWORD_US 120000000  /* time for typing it */
#define START_US 25000000

static int end_refused(struct dbus_call *call, int err, const char *sentence)
{
        (void)dbus_refuse(call->message, err, sentence);
        dbus_call_end(call);
        return 1;
}

static int on_started(sd_bus_message *reply, void *data, sd_bus_error *error)
{
        struct dbus_call *call = data;
        const sd_bus_error *failure = sd_bus_message_get_error(reply);

        if (failure) {
                log_warning(call->dbus->log, "the calibration that a user asked for by D-Bus cannot be started: %s",
                            failure->message ? failure->message : failure->name);
                return end_refused(call, -EIO, "systemd cannot start " UNIT "; its log says why");
        }
        (void)sd_bus_reply_method_return(call->message, "s", UNIT);
        dbus_call_end(call);
        return 1;
}

static int on_decided(sd_bus_message *reply, void *data, sd_bus_error *error)
{
        struct dbus_call *call = data;
        sd_bus_slot *slot = NULL;
        int allowed, challenge, err;

        if (sd_bus_message_get_error(reply) || sd_bus_message_enter_container(reply, 'r', "bba{ss}") < 0 ||
            sd_bus_message_read(reply, "bb", &allowed, &challenge) < 0)
                return end_refused(call, -EACCES, "polkit does not answer who may calibrate; as root: joulecast"
                                                  " calibrate");
        if (!allowed)
                return end_refused(call, -EACCES, challenge ? "a calibration needs an administrator's password, and"
                                                              " polkit may not "
                                                              "ask for it: allow interactive authorization" :
                                                              "polkit does not allow you to calibrate");
        err = sd_bus_call_method_async(call->dbus->bus, &slot, MANAGER, "StartUnit", on_started, call, "ss", UNIT,
                                       "fail");
        if (err < 0)
                return end_refused(call, err, "systemd cannot be asked");
        sd_bus_slot_unref(call->slot);
        call->slot = slot;
        return 1;
}

static int ask_polkit(struct dbus_call *call)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *question = NULL;
        const char *sender = sd_bus_message_get_sender(call->message);
        uint32_t flags = sd_bus_message_get_allow_interactive_authorization(call->message) > 0 ? INTERACTION : 0;
        int err = sd_bus_message_new_method_call(call->dbus->bus, &question, POLKIT, "CheckAuthorization");

        if (err >= 0)
                err = sd_bus_message_append(question, "(sa{sv})sa{ss}us", "system-bus-name", 1, "name", "s", sender,
                                            ACTION, 0, flags, "");
        return err < 0 ? err : sd_bus_call_async(call->dbus->bus, &call->slot, question, on_decided, call, PASSWORD_US);
}

int dbus_on_calibrate(sd_bus_message *message, void *data, sd_bus_error *error)
{
        struct dbus *dbus = data;
        struct dbus_call *call;
        int err;

        if (sd_bus_message_get_expect_reply(message) <= 0)
                return 1;
        for (size_t i = 0; i < DBUS_CALIBRATES_MAX; i++)
                if (dbus->calibrates[i].message && !strcmp(sd_bus_message_get_sender(dbus->calibrates[i].message),
                                                           sd_bus_message_get_sender(message)))
                        return dbus_refuse(message, -EBUSY, "polkit is still deciding about your last call");
        call = dbus_call_begin(dbus, dbus->calibrates, DBUS_CALIBRATES_MAX, message);
        if (!call)
                return dbus_refuse(message, -EBUSY, "polkit is still deciding about other calls");
        err = ask_polkit(call);
        return err < 0 ? end_refused(call, err,
                                     "polkit cannot be asked who may calibrate; as root: joulecast calibrate") : 1;
}
