/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "dbus.h"
#include "present.h"
#include "util/sd-bus.h"

#define DBUS_NAME "org.joulecast1"
#define DBUS_PATH "/org/joulecast1"
#define DBUS_CALLS_MAX 128 /* includes calls whose user is not known yet */
#define DBUS_CALIBRATES_MAX 4

/* A call that waits for its answer. */
struct dbus_call {
        struct dbus *dbus;
        sd_bus_message *message; /* NULL: unused */
        sd_bus_slot *slot;       /* pending request to the bus or polkit; or NULL */
        char *question;          /* until it is queued with the questions */
};

struct dbus {
        sd_bus *bus; /* NULL: not connected */
        struct answers *answers;
        const struct question_source *source;
        const struct log *log;
        bool named;           /* the name is owned by this service */
        char said[256];       /* last logged sentence */
        unsigned wait, waits; /* polls until the next try to connect, and the last number of these */
        uint64_t pause_ns;    /* no messages are read until then */
        bool more;            /* messages are left in sd-bus's queue */
        struct dbus_call calls[DBUS_CALLS_MAX];
        struct dbus_call calibrates[DBUS_CALIBRATES_MAX];
        bool wanted;          /* a client has read a property, so they are kept up to date */
        struct present present, told;
};

/* Finds room for @message in @calls, unless its sender has too many calls already. */
struct dbus_call *dbus_call_begin(struct dbus *dbus, struct dbus_call *calls, size_t n, sd_bus_message *message);
void dbus_call_end(struct dbus_call *call);
int dbus_refuse(sd_bus_message *message, int err, const char *sentence);

/* dbus-vtable.c: the object at DBUS_PATH. */
int dbus_vtable_add(struct dbus *dbus);
void dbus_tell_changes(struct dbus *dbus);

/* dbus-ask.c */
int dbus_on_ask(sd_bus_message *message, void *data, sd_bus_error *error);
/* dbus-calibrate.c */
int dbus_on_calibrate(sd_bus_message *message, void *data, sd_bus_error *error);
