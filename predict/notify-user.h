/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * notify_user() - a notification on the user's desktop, by org.freedesktop.Notifications
 * @body: plain text; what a desktop would take for markup is escaped
 *
 * Return: 0; -EOPNOTSUPP: this build has no D-Bus; -ENOTCONN: no bus, or nobody shows notifications; another negative
 * errno.
 */
int notify_user(const char *summary, const char *body);
