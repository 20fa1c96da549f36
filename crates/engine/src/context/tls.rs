//! TLS settings for a user's connections: the core's shared settings, or separate settings if the user has its own
//! client certificate.

use std::sync::Arc;

use wire::tls::rustls::ClientConfig;

use crate::context::Context;
use crate::ids::UserId;
use crate::users::Extra;

impl Context<'_> {
    /// Returns the TLS configuration for a user's next connection.
    pub(crate) fn tls_config(
        &mut self,
        index: UserId,
    ) -> Result<Arc<ClientConfig>, wire::tls::Error> {
        self.run.trust.begin();
        let secure = &self.run.settings.connect.secure;
        if let Some(shared) = secure.shared_config(&mut self.net.tls_config)? {
            return Ok(shared);
        }
        let root = &self.users[self.users.root(index)];
        let alias = secure.variable().map(|variable| {
            Box::<str>::from(root.vars.get_named(&self.plan.names, variable).unwrap_or_default())
        });
        let Extra { tls, alias: presented, .. } = self.users[index].extra();
        secure.own_config(&mut self.net.tls_config, tls, presented, alias.as_deref())
    }
}
