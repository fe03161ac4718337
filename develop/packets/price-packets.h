/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

int price_packets_main(int argc, char **argv); /* `joulecast price-packets`; an exit code */
