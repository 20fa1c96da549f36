//! The table for network devices: firewalls and load balancers with the MIB names that snmp_exporter uses, and HAProxy.
//!
//! Sources: IF-MIB (RFC 2863), HOST-RESOURCES-MIB (RFC 2790), PAN-COMMON-MIB (Palo Alto Networks),
//! FORTINET-FORTIGATE-MIB, CISCO-FIREWALL-MIB, CISCO-PROCESS-MIB, JUNIPER-SRX5000-SPU-MONITORING-MIB,
//! F5-BIGIP-SYSTEM-MIB, CHECKPOINT-MIB.

use record::Unit::{Count, PerSecond, Share};

use super::tables::{row, term, with};
use super::{How, Row};

/// Labels with which a Cisco ASA's exporter marks the number of current connections of all protocols. The exporter
/// writes label values as numbers or as names.
const ASA: &[(&str, &str)] =
    &[("cfwConnectionStatService", "40|protoIp"), ("cfwConnectionStatType", "6|currentInUse")];

pub(super) const NETWORK: &[Row] = &[
    row("cpu", Share, How::MeanPercent(&[term("fgSysCpuUsage")])),
    row("cpu", Share, How::MeanPercent(&[term("jnxJsSPUMonitoringCPUUsage")])),
    row("cpu", Share, How::MeanPercent(&[term("sysGlobalHostCpuUsageRatio5s")])),
    row("cpu", Share, How::MeanPercent(&[term("cpmCPUTotal5secRev")])),
    row("cpu", Share, How::MeanPercent(&[term("cpmCPUTotal1minRev")])),
    row("cpu", Share, How::MeanPercent(&[term("hrProcessorLoad")])),
    row("memory", Share, How::MeanPercent(&[term("fgSysMemUsage")])),
    row("memory", Share, How::MeanPercent(&[term("jnxJsSPUMonitoringMemoryUsage")])),
    row("sessions", Count, How::Now(&[term("panSessionActive")])),
    row("sessions", Count, How::Now(&[term("fgSysSesCount")])),
    row("sessions", Count, How::Now(&[term("jnxJsSPUMonitoringCurrentFlowSession")])),
    row("sessions", Count, How::Now(&[with("cfwConnectionStatValue", ASA)])),
    row("sessions", Count, How::Now(&[term("fwNumConn")])),
    row("sessions", Count, How::Now(&[term("sysStatClientCurConns")])),
    row("sessions", Count, How::Now(&[term("haproxy_frontend_current_sessions")])),
    row("sessions_behind", Count, How::Now(&[term("sysStatServerCurConns")])),
    row("sessions_max", Count, How::Now(&[term("panSessionMax")])),
    row("sessions_max", Count, How::Now(&[term("jnxJsSPUMonitoringMaxFlowSession")])),
    row("sessions_max", Count, How::Now(&[term("haproxy_process_max_connections")])),
    row("net_received", PerSecond, How::Rate(&[term("ifHCInOctets")])),
    row("net_sent", PerSecond, How::Rate(&[term("ifHCOutOctets")])),
    row("net_dropped", PerSecond, How::Rate(&[term("ifInDiscards"), term("ifOutDiscards")])),
    row("net_errors", PerSecond, How::Rate(&[term("ifInErrors"), term("ifOutErrors")])),
];
